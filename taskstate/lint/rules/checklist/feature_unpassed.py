"""feature-unpassed: a feature passed at the compared revision, and does not any more.

## What

A feature with `passes: true` in the compared revision (HEAD, or `--against REV`) has `passes:
false` now. During a merge, the side that tested it last counts. A feature that was moved to another task is not
reported.

## Why

A step back is no problem; an unnoticed one is. Either something broke, and then it is the first thing to work on, or a
merge or an edit by hand reverted what had been proved.

## Example

`"passes": true` was committed; now it says

```json
{"id": "jwt-1", "description": "makes a valid JWT", "passes": false, "tested_at": "2026-01-31T12:00:00Z"}
```

## Instead

If it broke, the value is right: describe in a session what was seen, and name the repair as the next step. If it was a
mistake, test the feature and record the result: `taskstate feature pass 101 jwt-1 --run 'make test'`.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import WARNING, Diagnostics, Rule
from taskstate.lint.facts.session_history import comparable
from taskstate.lint.facts.wording import cut, feature_pass
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS308", __name__, "a feature passed at the compared revision, and does not any more", severity=WARNING)

_OPTIONAL = ("tested_at", "moved_to")


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each feature that passed in the compared revision and does not pass now."""
    passed = _passed(facts)
    for feature in facts.sound_features("id", "passes", optional=_OPTIONAL) if any(passed.values()) else ():
        name = feature.values["id"]
        command = feature_pass(facts.shown_id, name, facts.values.get("status"))
        if passed.get(name) and feature.values["passes"] is False and not feature.values.get("moved_to"):
            yield RULE.at(
                feature.span("passes"),
                f"feature {cut(name)} passed before, and no longer does",
                help=f"say why in a session; if it was a slip, `{command} --evidence TEXT`",
            )


def _passed(facts: Facts) -> Mapping[str, bool]:
    """Return for each committed feature, by id, whether it passed when it was tested last."""
    last: dict[str, tuple[str, bool]] = {}
    for past in comparable(facts):
        for feature in past.sound_features("id", "passes", optional=_OPTIONAL):
            tested = (feature.values.get("tested_at") or "", feature.values["passes"])
            name = feature.values["id"]
            last[name] = max(last.get(name, tested), tested)
    return {name: passes for name, (_, passes) in last.items()}
