"""commit-unknown: a commit is named that this repository does not have.

## What

The list of Git History, or the **Commits:** of a session, names a commit, and git finds none with that id. An id is 4
to 64 hexadecimal digits in backticks; without backticks it has at least 7, letters and digits among them, so that no
ordinary word or date is taken for one. In the Git History it stands at the beginning of an item. A commit that is
named several times is one finding. In a shallow clone, which has only the newest commits, nothing is said.

## Why

Whoever wants to see what was done follows the id and finds nothing. It is mistyped, or invented, or the commit was
left behind by a rebase, an amend or a squash, and has another id now.

## Example

```markdown
## 5. Git History

- `abc1234` - add generateToken
```

where `git show abc1234` says `unknown revision`.

## Instead

`git log --oneline` shows the ids that there are:

```markdown
- `4f2c1e9` - add generateToken
```

If the commit is only on another machine, fetch it first. A session that is committed already is not edited any more:
name the right commit in the next one, and silence the finding above the line with
`<!-- taskstate: ignore TS410 squashed into 4f2c1e9 -->`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from taskstate.lint.diagnostics import WARNING, Diagnostic, Rule
from taskstate.syntax.spans import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document

RULE = Rule(
    code="TS410",
    name="commit-unknown",
    severity=WARNING,
    summary="a commit is named that this repository does not have",
)

_COMMIT = (
    r"`(?P<quoted>[0-9a-fA-F]{4,64})`"
    r"|(?<![0-9A-Za-z_`./#-])(?=[0-9]*[a-f])(?=[a-f]*[0-9])(?P<bare>[0-9a-f]{7,64})(?![0-9A-Za-z_`/-])"
)
_HISTORY, _COMMITS = "Git History", "commits"


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:
    """Yield each commit that is not there, at the first place that names it."""
    named: dict[str, Span] = {}
    for commit in _named(document, facts):
        told = commit["quoted"] or commit["bare"]
        named.setdefault(told.lower(), Span(*commit.span("quoted" if commit["quoted"] else "bare")))
    missing = facts.queries.missing_commits(tuple(named)) if named else ()
    for commit_id in missing or ():
        yield RULE.at(
            named[commit_id],
            f"the repository has no commit {commit_id}",
            help="correct the id: `git log --oneline` shows those that there are",
        )


def _named(document: Document, facts: Facts) -> Iterator[re.Match[str]]:
    """Yield the ids of commits in the sessions and in the Git History."""
    for session in facts.sessions:
        field = session.fields.get(_COMMITS)
        if field:
            yield from re.compile(_COMMIT).finditer(document.text, *field.span)
    spec = facts.kind.section(_HISTORY)
    history = facts.outline.section(spec) if spec else None
    for item in document.items(history.body) if history else ():
        commit = re.compile(_COMMIT).match(document.text, *item.content)
        if commit:
            yield commit
