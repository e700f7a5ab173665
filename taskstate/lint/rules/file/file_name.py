"""file-name: the file name and `task_id` differ, or the name is malformed.

## What

A state file is called `task-<id>-state.md`, and its front matter has the same id as `task_id`; case does not matter. An
id has at most 64 letters and digits, with single `.`, `_` or `-` between them, and does not begin with `task-`. The
name of a handoff document says its phase and its time (`created_at`), as its front matter does. A file among the state
files whose name is only close to that (`task-101.md`, `Task-101-State.md`), or that has a `task_id`, is found, too.

## Why

Commands find a task by the name of its file, and people by its content. Where the two differ, somebody works on the
wrong task, and the archive of one task is written under the name of another.

## Example

`task-102-state.md`, copied from another task:

```yaml
task_id: "101"
```

## Instead

Correct the one that was changed: a file that was renamed gets its name back, and a copy a `task_id` and a title line of
its own.

```console
$ git mv .taskstate/tasks/task-102-state.md .taskstate/tasks/task-101-state.md
```

To change the id of a task, with its archive, its artifacts and all that names it: `taskstate doctor renumber 101 102`.
`taskstate new ID --title TITLE` creates a file in which both agree.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import FRONT_MATTER, Diagnostic, Diagnostics, Rule
from taskstate.model import names
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document

RULE = Rule.of("TS008", __name__, "the file name and `task_id` differ, or the name is malformed", reads=FRONT_MATTER)


def check(facts: Facts) -> Diagnostics:
    """Yield a finding at the first line for a malformed name, or at each value that differs from it."""
    if facts.file_type == "near":
        yield from _near(facts)
        return
    if facts.has_malformed_id:
        yield RULE.at(
            facts.first_line,
            f"the file name {facts.name!r} holds {facts.task_id!r}, which is not an id of a task",
            help=f"rename it: an id has at most {names.MAX_ID} letters and digits, joined by single . _ or -",
        )
        return
    for key in facts.misnamed_keys:
        node = facts.front_matter.get(key) if facts.front_matter else None
        if key != "task_id":
            yield _of_handoff(facts, key)
        elif node:
            place = "lies in the folder of" if facts.file_type == "handoff" else "has the name of"
            message = f"the file {place} task {facts.task_id}, and its task_id is {node.text!r}"
            yield RULE.at(node.span, message, help=_help(facts.document, facts, node.text))


def _near(facts: Facts) -> Diagnostics:
    """Yield the finding about a file that is only nearly called as a state file is."""
    told = facts.values.get("task_id")
    task_id = told if isinstance(told, str) and names.is_id(told) else names.near_id(facts.name)
    message = f"no command sees this file: by its name {facts.name!r} it is not a state file"
    yield RULE.at(
        facts.first_line, message, help=f"rename it to `task-{task_id}-state.md`; `taskstate doctor` says how"
    )


def _help(document: Document, facts: Facts, told: str) -> str:
    """Return what to write: the title of a state file, or the folder of a handoff, says which id is meant."""
    titles = [section.title for section in document.sections if section.level == 1]
    is_meant = facts.file_type == "handoff" or any(f"#{facts.task_id}:" in title for title in titles)
    write = f'write `task_id: "{facts.task_id}"`'
    if is_meant or not names.is_id(told):
        return f"{write}; if the name is wrong, rename the file"
    return f"rename the file to `task-{told}-state.md`; if that file exists, {write}, and change the title line"


def _of_handoff(facts: Facts, key: str) -> Diagnostic:
    """Return the finding about a handoff document that is of another phase or time than its name says."""
    named = names.phase_in(facts.name) if key == "phase" else f'"{names.time_in(facts.name)}"'
    return RULE.at(
        facts.value_span(key),
        f"the file is called {facts.name!r}, and its {key} is {facts.values[key]!r}",
        help=f"write `{key}: {named}`; if the name is wrong, rename the file",
    )
