"""handoff-reference: an open handoff names a path that does not exist.

## What

While the front matter says `status: open`, each path that the document names is there in the repository: the file of
Current State, those of References (`path`, or `path, what to look for`), and those of `do_not_reread`. Paths begin at
the repository's root; a line behind one (`a.py:88`) and a heading (`plan.md#rotation`) are left aside. A path that
leads out of the repository is told by TS952 alone. Accepted documents are history, and so are those of other tools.

## Why

The successor opens the file first of all. One that was renamed, never committed, or lies in another worktree sends it
searching, or lets it write the file anew.

## Example

There is a `src/auth/jwt.service.ts`, and no `src/jwt.ts`:

```markdown
## Current State

- File: `src/jwt.ts`
```

## Instead

```markdown
## Current State

- File: `src/auth/jwt.service.ts`
```

A file that is still to be made stands in the next action or the goal state; the file that is worked on until then is
named here. What lies elsewhere, such as an address, belongs in Critical Context.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.handoff.document import OPEN, Passage, without_position
from taskstate.lint.diagnostics import WHOLE, Diagnostic, Rule
from taskstate.lint.facts.handoffs import handoff_facts
from taskstate.lint.facts.wording import shown
from taskstate.validation.paths import escape_reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document

RULE = Rule(
    code="TS805",
    name="handoff-reference",
    summary="an open handoff names a path that does not exist",
    reads=WHOLE,
)


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:  # noqa: ARG001 - every rule takes both
    """Yield each path that is not there."""
    sheet = handoff_facts(facts)
    if sheet is None or not sheet.is_ours or facts.values.get("status") != OPEN:
        return
    for passage in (*_unread(facts), *sheet.reading.paths):
        tried = dict.fromkeys((passage.text, without_position(passage.text)))
        if any(_is_told_elsewhere(facts, path) or facts.queries.exists(path) is not False for path in tried):
            continue
        yield from sheet.at(
            RULE,
            passage.span,
            f"the repository has no {shown(passage.text)}",
            help="correct the path; it begins at the repository's root, with what to look for behind a comma",
        )


def _unread(facts: Facts) -> Iterator[Passage]:
    """Yield the files that need not be read again."""
    paths = facts.values.get("do_not_reread")
    for index, path in enumerate(paths if isinstance(paths, list) else ()):
        yield Passage(path, facts.value_span("do_not_reread", index))


def _is_told_elsewhere(facts: Facts, path: str) -> bool:
    """Return whether a path leads out of the repository."""
    return bool(escape_reason(path)) or facts.queries.leads_outside(path) is True
