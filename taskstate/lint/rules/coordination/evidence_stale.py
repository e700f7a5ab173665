"""evidence-stale: the source of an excerpt no longer contains it.

## What

An entry of `evidence` names a file, its lines and the SHA-256 of what stood there. The file does not hold that text any
more, neither in these lines nor elsewhere, or it is gone. An excerpt that only moved is not reported: its text is still
there. Tasks that are complete or dropped are not checked. Also an error: an id that two excerpts
have, and lines that run backwards.

## Why

Prompts, reviews and decisions cite an excerpt by its id instead of repeating it. Whoever looks it up now reads
something else than what was cited.

## Example

```yaml
evidence:
  - {id: plan-1, type: plan, path: docs/plan.md, lines: 2-3, sha256: "43fc…"}   # and these lines were rewritten since
```

## Instead

Look at what was cited and at what stands there now, and cite that if it still supports what it was cited for:

```console
$ taskstate evidence show 101 plan-1
$ taskstate evidence add 101 --type plan --path docs/plan.md --lines 2-4
```

The old entry may then be removed by hand.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import ERROR, FRONT_MATTER, WARNING, Diagnostics, Rule
from taskstate.lint.facts.citations import is_closed
from taskstate.lint.facts.wording import shown
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of(
    "TS705", __name__, "the source of an excerpt no longer contains it", severity=WARNING, reads=FRONT_MATTER
)

_CHANGED, _GONE = "changed", "gone"


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each excerpt that its source no longer holds, at its hash."""
    seen = set[object]()
    for index, entry in enumerate(() if is_closed(facts) else facts.blocks.evidence):
        place, first, _, last = entry.get("id"), *str(entry.get("lines", "")).partition("-")
        if place in seen or (first.isdigit() and last.isdigit() and int(first) > int(last)):
            key = "id" if place in seen else "lines"
            message = (
                f"two excerpts have the id {shown(str(place))}"
                if key == "id"
                else f"the lines {first}-{last} end before they begin"
            )
            help_ = f"correct it, or cite it again with `taskstate evidence add {facts.shown_id} --type T --path FILE`"
            yield RULE.at(facts.value_span("evidence", index, key), message, help=help_, severity=ERROR)
            continue
        seen.add(place)
        texts = {key: value for key, value in entry.items() if isinstance(value, str)}
        name, path, sha256 = texts.get("id"), texts.get("path"), texts.get("sha256")
        if not name or not path or not sha256:
            continue  # reported by TS101
        state = facts.queries.excerpt(path, texts.get("lines", ""), sha256)
        if state in {_CHANGED, _GONE}:
            said = "no longer contains it" if state == _CHANGED else "is gone, or cannot be read"
            yield RULE.at(
                facts.value_span("evidence", index, "sha256"),
                f"the evidence {shown(name)}: {shown(path)} {said}",
                help=f"`taskstate evidence show {facts.shown_id} {shown(name)}` shows both; cite the text as it is now",
            )
