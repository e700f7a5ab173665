"""commit-unknown: a commit is named that this repository does not have.

## What

The list of Git History, the **Commits:** of a session, the `evidence` of a feature, or `delta.base_commit` names a
commit that git does not find; the last two count only where the compared revision does not name it. An id has 4 to 64
hexadecimal digits in backticks; without backticks it has at least 7, with both letters and digits, so that no ordinary
word or date is taken for one. In Git History it is at the beginning of an item. A commit that is named several times
gives one finding. A shallow clone, which has only the newest commits, is not checked.

## Why

Whoever wants to see what was done follows the id and finds nothing. It was mistyped or invented, or the commit has
another id since a rebase, an amend or a squash.

## Example

```markdown
## 5. Git History

- `abc1234` - add generateToken
```

where `git show abc1234` says `unknown revision`.

## Instead

`git log --oneline` shows the existing ids:

```markdown
- `4f2c1e9` - add generateToken
```

If the commit exists only on another machine, fetch it first. A committed session must not be edited: name the right
commit in the next one, and silence the finding above the line with
`<!-- taskstate: ignore TS410 squashed into 4f2c1e9 -->`.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import WARNING, Diagnostics, Rule
from taskstate.model.session_texts import COMMITS
from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document
    from taskstate.syntax.nodes import Node

RULE = Rule.of("TS410", __name__, "a commit is named that this repository does not have", severity=WARNING)

# The lookarounds reject ids inside words, paths and anchors; the lookaheads demand a letter and a digit.
_COMMIT = (
    r"`(?P<quoted>[0-9a-fA-F]{4,64})`"
    r"|(?<![0-9A-Za-z_`./#-])(?=[0-9]*[a-f])(?=[a-f]*[0-9])(?P<bare>[0-9a-f]{7,64})(?![0-9A-Za-z_`/-])"
)
_COMMIT_KEY = '"commit"'
_HISTORY, _LABEL = "Git History", rf"(?i){COMMITS.field}\s*:"


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each commit that the repository lacks, at the first place that names it."""
    named: dict[str, Span] = {}
    base = facts.blocks.delta.base_commit
    if base and facts.past and not facts.was_there(base):
        named[base] = facts.value_span("delta", "base_commit")
    for node in _evidence(facts):
        named.setdefault(node.text, node.span)
    for commit in _named(facts.document, facts):
        commit_id = commit["quoted"] or commit["bare"]
        named.setdefault(commit_id.lower(), Span(*commit.span("quoted" if commit["quoted"] else "bare")))
    missing = facts.queries.missing_commits(tuple(named)) if named else ()
    for commit_id in missing or ():
        yield RULE.at(
            named[commit_id],
            f"the repository has no commit {commit_id}",
            help="correct the id: `git log --oneline` shows those that there are",
        )


def _evidence(facts: Facts) -> Iterator[Node]:
    """Yield the commits that are the evidence of features, but for those that a compared revision names so."""
    if facts.checklist is None or _COMMIT_KEY not in facts.document.text:
        return
    for feature in facts.sound_features("evidence"):
        node = feature.node.get("evidence", "commit")
        if node and not facts.was_there(node.text):
            yield node


def _named(document: Document, facts: Facts) -> Iterator[re.Match[str]]:
    """Yield a match for each commit id in the sessions and in Git History."""
    for session in facts.sessions:
        may_name = compiled(_LABEL).search(document.text, *session.section.body)
        field = session.fields.get(COMMITS.field) if may_name else None
        for span in (field.span, *field.more) if field else ():
            yield from compiled(_COMMIT).finditer(document.text, *span)
    spec = facts.kind.section(_HISTORY)
    history = facts.outline.section(spec) if spec else None
    for item in document.items(history.body) if history else ():
        commit = compiled(_COMMIT).match(document.text, *item.content)
        if commit:
            yield commit
