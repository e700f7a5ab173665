"""state-removed: a state file is gone whose task was neither complete nor dropped, or an archive that a task needs.

## What

The compared revision (HEAD, or `--against REV`) has a state file that no longer exists, neither there nor under another
name of a state file, and its task was neither complete nor dropped. Or it has an archive that no longer exists, and the
Archived Summary of a state file stands for sessions in it. The finding names the removed file; it is reported where the
folder of that file is linted, for an archive also with the state file. Tasks that moved or got another id are
recognised, and so is an archive that was elsewhere before it came to its place (`taskstate migrate`). A file counts as
removed, too, where taskstate does not look for it: in an excluded folder, in `artifacts`, or under a name that is none
of its own. What is left of a task whose state file may go (its archive, its handoffs, its Impact Map) is told by
`taskstate doctor` alone: it is no fault of any file.

## Why

With the state file, all knowledge about the task is removed: what was tried, what was decided, what is left to do. Git
still has it, but nobody looks there for a task that no list shows any more. The same is true of archived sessions.

## Example

```console
$ git rm .taskstate/tasks/task-101-state.md     # while 101 is in progress
```

## Instead

Restore the file with `git checkout REV -- path`, as the finding says. A task that is finished should be completed
first, `taskstate complete 101`, and one that is given up dropped: `taskstate drop 101 --note "the library does it"`.
Then its file may go.

## Configuration

`per-file-ignores` silences this for files that may be removed at any time: `{ "scratch/**" = ["TS012"] }`.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import WHOLE, Diagnostics, Rule
from taskstate.lint.facts.wording import taken_back
from taskstate.model.names import own_file
from taskstate.model.statuses import CLOSED
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of(
    "TS012",
    __name__,
    "a state file is gone whose task was neither complete nor dropped, or an archive that a task needs",
    reads=WHOLE,
)


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for the removed file, at its first line, unless it is of a task that was complete or dropped."""
    own = own_file(facts.name)
    status = facts.values.get("status")
    if own is not None and own.type == "archive":
        message = f"the archive of task {facts.shown_id} is gone, and its state file refers to sessions in it"
        yield RULE.at(facts.first_line, message, help=_cure(facts))
    elif status not in CLOSED:
        message = f"the state file of task {facts.shown_id} is gone, and the task was {_words(status)}"
        yield RULE.at(
            facts.first_line, message, help=f"{_cure(facts)}; complete or drop a task before you delete its file"
        )


def _words(status: object) -> str:
    return str(status).replace("_", " ") if status else "not complete"


def _cure(facts: Facts) -> str:
    """Return the command that brings the file back."""
    names = facts.queries.earlier_names()
    if not names:
        return "restore it from git"
    path = f"{facts.folder}/{facts.name}".lstrip("/")
    revision, _, prefix = names[0].removesuffix(path).rpartition(":")
    return taken_back(revision, f"{prefix}{path}")
