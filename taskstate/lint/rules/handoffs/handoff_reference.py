"""handoff-reference: an open handoff names a path that does not exist.

## What

While the front matter says `status: open`, all paths that the document names must exist in the repository: the file of
Current State, unless it is marked `(to be created)`; those of References (`path`, or `path, what to look for`, also
behind a label as in `Plan: path`); and those of `do_not_reread`. Paths begin at the repository's root; a line number
(`a.py:88`) and a heading (`plan.md#rotation`) behind one are ignored. A path out of the repository is reported by TS952
alone. Accepted documents, and those of other tools, are not checked.

## Why

The successor first opens the file. If it was renamed, never committed, or is in another worktree, the successor has to
search for it, or writes it again.

## Example

`src/auth/jwt.service.ts` exists, and `src/jwt.ts` does not:

```markdown
## Current State

- File: `src/jwt.ts`
```

## Instead

```markdown
## Current State

- File: `src/auth/jwt.service.ts`
```

A file that is still to be created is marked so, as `taskstate handoff new --file` does by itself:

```markdown
- File: `src/auth/rotation.ts` (to be created)
```

References outside the repository, such as an address, belong in Critical Context.
"""

from __future__ import annotations

from taskstate.handoff.document import OPEN, Passage
from taskstate.handoff.references import without_position
from taskstate.lint.diagnostics import WHOLE, Diagnostics, Rule
from taskstate.lint.facts.handoffs import handoff_facts
from taskstate.lint.facts.wording import shown
from taskstate.typed import TYPE_CHECKING
from taskstate.validation.paths import escape_reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS805", __name__, "an open handoff names a path that does not exist", reads=WHOLE)


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each path that does not exist."""
    handoff = handoff_facts(facts)
    if handoff is None or not handoff.is_ours or facts.values.get("status") != OPEN:
        return
    for passage in (*_not_to_reread(facts), *handoff.reading.paths_to_find):
        candidates = dict.fromkeys((passage.text, without_position(passage.text)))
        if any(_leads_outside(facts, path) or facts.queries.exists(path) is not False for path in candidates):
            continue
        yield from handoff.at(
            RULE,
            passage.span,
            f"the repository has no {shown(passage.text)}",
            help="correct the path: it begins at the repository's root; what to look for follows a comma",
        )


def _not_to_reread(facts: Facts) -> Iterator[Passage]:
    """Yield the paths of `do_not_reread`."""
    paths = facts.values.get("do_not_reread")
    for index, path in enumerate(paths if isinstance(paths, list) else ()):
        yield Passage(path, facts.value_span("do_not_reread", index))


def _leads_outside(facts: Facts, path: str) -> bool:
    """Return whether a path leads out of the repository, which TS952 reports."""
    return bool(escape_reason(path)) or facts.queries.leads_outside(path) is True
