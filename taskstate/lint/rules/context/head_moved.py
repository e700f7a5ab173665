"""head-moved: commits since the context was sealed touch more than taskstate's own files.

## What

`context.git_head` is the commit that was checked out when the context was sealed. HEAD is another one now, and files
other than taskstate's own differ between the two. Complete tasks are not checked, nor is a commit that this clone does
not have.

## Why

Scope, paths and cited code were examined in that commit. After a rebase, a merge or a change of branches they may be
gone or mean something else, and whoever starts from the sealed context would not know.

## Example

```yaml
context:
  git_head: "4f2c1e9a77d0b3c58e6f4a1d2b9c8e7f6a5d4c3b"   # and main has moved on by 40 commits
```

## Instead

See what came in between, check whether the task still fits, and record the new HEAD:

```console
$ git diff --stat 4f2c1e9a77 HEAD
$ taskstate context rebuild 101
```

If the commits are the task's own work, nothing is wrong; sealing again ends the warning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.lint.diagnostics import FRONT_MATTER, WARNING, Diagnostic, Rule
from taskstate.lint.facts.citations import is_complete
from taskstate.lint.facts.wording import cut
from taskstate.messages import first_of
from taskstate.model.static_context import is_sealed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document

RULE = Rule(
    code="TS605",
    name="head-moved",
    severity=WARNING,
    summary="commits since the recorded HEAD touch more than taskstate's own files: the context may be stale",
    reads=FRONT_MATTER,
)

_MAX_NAMES = 3  # files that the message lists; of more it gives the number


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:  # noqa: ARG001 - every rule is called alike
    """Yield at most one finding, at the recorded commit."""
    head = facts.blocks.context.git_head
    if not head or is_complete(facts) or not is_sealed(facts.front_matter):
        return
    changed = facts.queries.changed_since(head)
    if changed:
        yield RULE.at(
            facts.value_span("context", "git_head"),
            f"commits since then touch {first_of([*map(cut, changed)], _MAX_NAMES)}",
            help="see whether the context still fits; "
            f"`taskstate context rebuild {facts.shown_id}` takes note of the new HEAD",
        )
