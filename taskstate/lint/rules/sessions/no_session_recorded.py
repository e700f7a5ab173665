"""no-session-recorded: there was work on the task, and no session tells of it.

## What

The task is in progress, and since the compared revision (`--against REV`; in the pre-commit hook HEAD) its features or
phases changed, or files under its Repository Paths did; but neither the Progress Log nor the archive has a session
more. Taskstate's own files do not count, nor does a feature that another task took over, and while a merge is under way
only what neither side had.

## Why

The commit says what changed, and not why, what was tried before, and what comes next. Whoever goes on tomorrow, with
nothing but this file, begins by finding that out again.

## Example

`src/auth/token.py` is about to be committed, the task has `src/auth/**` among its Repository Paths, and the newest
session is the one of the last commit.

## Instead

```console
$ taskstate session add 101 --did 'Tokens expire after 15 minutes' --state 'Tests pass' --next 'Refresh tokens'
```

Then commit both. For a change that has nothing to do with the task this warning can stay; if it comes often, the
Repository Paths are too wide.

## Configuration

`[tool.taskstate.scope]` gives names to lists of paths: with `mobile-ui = ["mobile/src/ui/**"]` the item `:mobile-ui`
means them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from taskstate.context.path_scope import read_scope
from taskstate.lint.diagnostics import WARNING, Diagnostic, Rule
from taskstate.lint.facts.session_history import SessionIndex, comparable, entries, newest
from taskstate.lint.facts.wording import shown
from taskstate.model.names import own_file
from taskstate.model.statuses import IN_PROGRESS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document

RULE = Rule(
    code="TS408",
    name="no-session-recorded",
    severity=WARNING,
    summary="the checklist or files of a task in progress changed, and no session was added",
)

_DERIVED = "overall_progress"
_NO_WORK = {"description", "moved_to"}  # of a feature: the one never changes, the other is a division of the task


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:
    """Yield the heading of the Progress Log where work is not told of."""
    past = comparable(facts)
    log = facts.state.section("Progress Log")
    if not past or log is None or facts.values.get("status") != IN_PROGRESS or not facts.sessions_known:
        return
    why = _work(document, facts, past)
    if why and not any(_is_longer(facts, then) for then in past):
        yield RULE.at(
            log.heading,
            f"{why}, and no session was recorded",
            help=f"`taskstate session add {facts.shown_id}` says what was done and what comes next",
        )


def _is_longer(facts: Facts, then: Facts) -> bool:
    """Return whether there is a session that an earlier text had not, in the log or archived since."""
    before = SessionIndex(entries(then))
    return newest(facts) > newest(then) or not all(before.has(each) for each in entries(facts))


def _work(document: Document, facts: Facts, past: tuple[Facts, ...]) -> str:
    """Return in words what was worked on, or nothing."""
    if all(_is_changed(facts, then) for then in past):
        return "the Feature Checklist changed"
    touched = _touched(document, facts)
    more = f" and {len(touched) - 1} more of the task's files" if len(touched) > 1 else ""
    return f"{shown(touched[0])}{more} changed" if touched else ""


def _is_changed(facts: Facts, then: Facts) -> bool:
    """Return whether the features or phases say more than they did, or something else."""
    if then is facts:
        return False
    now, before = _progress(facts), _progress(then)
    return now is not None and before is not None and bool(now.items() - before.items())


def _progress(facts: Facts) -> dict[str, str] | None:
    """Return what the features and the phases say, piece by piece, or None where that cannot be read.

    Descriptions are left out: they do not change in the course of the work (TS305, TS307). So is where a feature went.
    """
    found: dict[str, str] = {}
    for name, value in (("", facts.checklist_value), *((phase.name, phase.value) for phase in facts.phases)):
        told = value.root.value() if value else None
        if not isinstance(told, dict):
            return None
        for key, each in told.items():
            for item in each if isinstance(each, list) else [each] if key != _DERIVED else []:
                known = isinstance(item, dict) and "id" in item
                said = json.dumps({part: item[part] for part in item if part not in _NO_WORK} if known else item)
                found[f"{name} {key} {item['id'] if known else said}"] = said
    return found


def _touched(document: Document, facts: Facts) -> list[str]:
    """Return the files under the task's Repository Paths that differ, but for our own."""
    section = facts.state.subsection("Static Context", "Repository Paths")
    items = [item.content.of(document.text) for item in document.items(section.body)] if section else []
    scope = read_scope(items, facts.config.scope)
    if not scope.inside:
        return []
    ours = f"{facts.config.root.strip('/')}/"
    changed = (path for path in facts.queries.changed_paths() or () if not path.startswith(ours))
    return [path for path in changed if scope.covers(path) and own_file(path) is None]
