"""no-session-recorded: there was work on the task, and no session tells of it.

## What

The task is in progress, and since the compared revision (HEAD, or `--against REV`) a feature
or an objective was added or passes, ends or begins again, or files under its Repository Paths changed; but neither the
Progress Log nor the archive has a new session. Other words about them do not count, nor do taskstate's own files.
During a merge only changes count that neither side had.

## Why

The commit shows what changed, but not why, what was tried before, and what comes next. Whoever goes on tomorrow with
this file alone must find that out again.

## Example

`src/auth/token.py` is about to be committed, the task has `src/auth/**` among its Repository Paths, and the newest
session is the one of the last commit.

## Instead

```console
$ taskstate session add 101 --did 'Tokens expire after 15 minutes' --state 'Tests pass' --next 'Refresh tokens'
```

Then commit both. Ignore the warning for a change that has nothing to do with the task; if it appears often, the
Repository Paths are too wide.

## Configuration

`[tool.taskstate.scope]` names lists of paths: with `mobile-ui = ["mobile/src/ui/**"]` the item `:mobile-ui` stands for
that list.
"""

from __future__ import annotations

import json

from taskstate.context.path_scope import read_scope
from taskstate.lint.diagnostics import WARNING, Diagnostics, Rule
from taskstate.lint.facts.session_history import SessionIndex, comparable, entries, newest
from taskstate.lint.facts.wording import shown
from taskstate.model.names import own_file
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document

RULE = Rule.of(
    "TS408",
    __name__,
    "the checklist or files of a task in progress changed, and no session was added",
    severity=WARNING,
)

_WORK = {"passes", "status"}  # of a feature or an objective: with them the work goes on


def check(facts: Facts) -> Diagnostics:
    """Yield at most one finding, at the heading of the Progress Log."""
    past = comparable(facts)
    log = facts.state.section("Progress Log")
    if not facts.may_lack_session or not past or log is None or not facts.sessions_known:
        return
    work = _work(facts.document, facts, past)
    if work and not any(_is_longer(facts, then) for then in past):
        yield RULE.at(
            log.heading,
            f"{work}, and no session was recorded",
            help=f"`taskstate session add {facts.shown_id} --did T --state T --next T` records what was done",
        )


def _is_longer(facts: Facts, then: Facts) -> bool:
    """Return whether there is a new session since an earlier version, in the log or already archived."""
    before = SessionIndex(entries(then))
    return newest(facts) > newest(then) or not all(before.has(each) for each in entries(facts))


def _work(document: Document, facts: Facts, past: tuple[Facts, ...]) -> str:
    """Return in words what has changed; empty where nothing has."""
    if all(_is_changed(facts, then) for then in past):
        return "the Feature Checklist changed"
    touched = _touched(document, facts)
    more = f" and {len(touched) - 1} more of the task's files" if len(touched) > 1 else ""
    return f"{shown(touched[0])}{more} changed" if touched else ""


def _is_changed(facts: Facts, then: Facts) -> bool:
    """Return whether entries of the features or phases were added or changed."""
    if then is facts:
        return False
    now, before = _progress(facts), _progress(then)
    return now is not None and before is not None and bool(now.items() - before.items())


def _progress(facts: Facts) -> dict[str, str] | None:
    """Return how far features and phases are, as JSON by unique keys; None where one cannot be read.

    Other words about them may be corrected without any work; what never changes is told by TS305 and TS307.
    """
    entries_by_key: dict[str, str] = {}
    for name, value in (("", facts.checklist_value), *((phase.name, phase.value) for phase in facts.phases)):
        content = value.root.value() if value else None
        if not isinstance(content, dict):
            return None
        for key, each in content.items():
            for item in each if isinstance(each, list) else []:
                has_id = isinstance(item, dict) and "id" in item
                text = json.dumps({part: item[part] for part in item if part in _WORK} if has_id else item)
                entries_by_key[f"{name} {key} {item['id'] if has_id else text}"] = text
    return entries_by_key


def _touched(document: Document, facts: Facts) -> list[str]:
    """Return the changed files under the task's Repository Paths, without our own."""
    section = facts.state.subsection("Static Context", "Repository Paths")
    items = [item.content.of(document.text) for item in document.items(section.body)] if section else []
    scope = read_scope(items, facts.config.scope)
    if not scope.inside:
        return []
    ours = f"{facts.config.root.strip('/')}/"
    changed = (path for path in facts.queries.changed_paths() or () if not path.startswith(ours))
    return [path for path in changed if scope.covers(path) and own_file(path) is None]
