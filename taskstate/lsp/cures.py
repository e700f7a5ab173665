"""The cures for findings that are commands: each runs the same job as the command line, under the lock.

They change files on disk. While one of these has unsaved edits in the editor nothing is run: either the edits or the
job would be lost.
"""

from __future__ import annotations

import re
import shlex
from contextlib import suppress

from taskstate.errors import TaskstateError
from taskstate.model import names
from taskstate.storage import files, folders
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace.free_ids import next_number
from taskstate.workspace.workspace import require_set_up

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from taskstate.lint.diagnostics import Diagnostic
    from taskstate.lsp.checking import Checker
    from taskstate.workspace.workspace import Workspace

_ARCHIVE, _PULL, _FIX = "taskstate.archive", "taskstate.pull", "taskstate.fix"
_RENUMBER, _BRING_BACK, _RESTORE = "taskstate.renumber", "taskstate.bringBack", "taskstate.restore"
_RESTORE_SESSION = "taskstate.restoreSession"
_FORCE = "force"
_NEARLY_TOO_LARGE = frozenset({"TS501", "TS503"})
_ID_TAKEN = frozenset({"TS011"})
_GONE = frozenset({"TS001", "TS003", "TS405", "TS407"})  # a session that is gone or rewritten, a file that is damaged
# The command that a finding names: the session's numbers, and the revision to restore from.
_RESTORES = r"`taskstate session restore \S+ ([0-9 ]+) --from ([^`&]+)`"


class Cure(NamedTuple):
    """A command that mends what a finding names: its title for people, and the arguments behind the file's address."""

    title: str
    command: str
    arguments: tuple[str, ...] = ()


def cures_for(diagnostic: Diagnostic, workspace: Workspace, path: Path) -> Iterator[Cure]:
    """Yield the commands that mend a finding in the file at `path`."""
    own, code = names.own_file(path.as_posix()), diagnostic.code
    if own is None or not own.id or not folders.is_folder(workspace.state_root):
        return
    job = diagnostic.fix.job if diagnostic.fix else ""
    if job == "archive":
        yield Cure("Archive older sessions", _ARCHIVE)
    elif job == "pull" and diagnostic.fix:
        yield Cure(f"Pull the output of task {diagnostic.fix.about}", _PULL, (diagnostic.fix.about,))
    elif job:
        yield Cure("Bring the citations up to date, and apply all safe fixes on disk", _FIX)
    if own.type != "state":
        return
    if code in _NEARLY_TOO_LARGE:
        yield Cure("Archive older sessions now, although the limit is not reached", _ARCHIVE, (_FORCE,))
    elif code in _ID_TAKEN:
        free = next_number(workspace).id
        yield Cure(f"Renumber this task to {free}", _RENUMBER, (free,))
    elif restores := re.search(_RESTORES, diagnostic.help):
        numbers, revision = restores[1].split(), shlex.split(restores[2])[0]
        plural = "s" if len(numbers) > 1 else ""
        yield Cure(f"Restore session{plural} {', '.join(numbers)} as committed", _RESTORE_SESSION, (revision, *numbers))
    elif code in _GONE:
        yield Cure("Bring back what is gone or damaged", _BRING_BACK)


def require_in_reach(checker: Checker, path: Path, opened: tuple[Path, ...]) -> None:
    """Refuse a file whose repository is neither in a folder that the editor works in, nor has such a folder in it.

    A file of another repository may be open as well, as where a link led there: it is shown, and not written. An editor
    without folders was started for the files that it has open.

    Raises:
        TaskstateError: code "path-escapes".
    """
    root = checker.workspace(path).root
    if not opened and checker.texts.get(path) is not None:
        return
    for folder in opened:
        with suppress(TaskstateError):  # the configuration of another folder is broken
            if root.is_relative_to(folder.resolve()) or checker.workspace(folder).root == root:
                return
    message = f"{files.shown(path)} is in no repository that the editor works in"
    raise TaskstateError(message, help="open its folder there, or use the command line", code="path-escapes")


def run_cure(checker: Checker, command: str, path: Path, arguments: tuple[str, ...]) -> tuple[str, ...]:
    """Run a command on the task whose file is at `path`, and return what it has to say.

    Raises:
        TaskstateError: code "unsaved": a file has unsaved edits; or the job refuses.
    """
    workspace = checker.workspace(path)
    require_set_up(workspace)
    for unsaved in checker.texts.unsaved():
        if unsaved == path or (command == _RENUMBER and unsaved.is_relative_to(workspace.root)):
            raise TaskstateError(
                f"{workspace.shown(unsaved)} has edits that are not saved, or was changed on disk",
                help="save it or load it again, then run this again; nothing was changed",
                code="unsaved",
            )
    return COMMANDS[command](checker, workspace, path, arguments)


def _task_of(path: Path) -> str:
    own = names.own_file(path.as_posix())
    return names.parse_task_id((own and own.id) or path.name)


def _archive(checker: Checker, workspace: Workspace, path: Path, arguments: tuple[str, ...]) -> tuple[str, ...]:
    from taskstate.archive.archiver import BUILT_IN, archive_sessions

    # The built-in summary: a program that the configuration names is not started because of a click.
    outcome = archive_sessions(
        workspace,
        _task_of(path),
        checker.surroundings.request(workspace),
        keep=workspace.config.size.keep_sessions,
        force=_FORCE in arguments,
        summarizing=BUILT_IN,
    )
    return outcome.notes


def _pull(checker: Checker, workspace: Workspace, path: Path, arguments: tuple[str, ...]) -> tuple[str, ...]:
    from taskstate.chain.inputs import pull

    source = names.parse_task_id(arguments[0]) if arguments else ""
    return pull(workspace, _task_of(path), checker.surroundings.request(workspace), source=source).notes


def _fix(checker: Checker, workspace: Workspace, path: Path, _arguments: tuple[str, ...]) -> tuple[str, ...]:
    from taskstate.lint.fixer import fix_file

    with checker.run(path) as run:
        return fix_file(run, path, checker.surroundings.request(workspace)).notes


def _renumber(checker: Checker, workspace: Workspace, path: Path, arguments: tuple[str, ...]) -> tuple[str, ...]:
    from taskstate.tasks.renumber import renumber

    if not arguments:
        raise TaskstateError("the new id is missing", help="name it as the second argument", code="usage")
    outcome = renumber(workspace, path, names.parse_task_id(arguments[0]), checker.surroundings.request(workspace))
    return (f"{workspace.shown(path)} is now {outcome.path}", *outcome.notes)


def _bring_back(checker: Checker, workspace: Workspace, path: Path, _arguments: tuple[str, ...]) -> tuple[str, ...]:
    from taskstate.doctor.repairs import brought_back

    return (brought_back(workspace, _task_of(path), checker.surroundings.request(workspace)),)


def _restore(checker: Checker, workspace: Workspace, path: Path, _arguments: tuple[str, ...]) -> tuple[str, ...]:
    from taskstate.archive.restore import restore

    return restore(workspace, _task_of(path), checker.surroundings.request(workspace)).notes


def _restore_session(checker: Checker, workspace: Workspace, path: Path, arguments: tuple[str, ...]) -> tuple[str, ...]:
    from taskstate.tasks.session_restore import restore

    revision, *numbers = (*arguments, "")
    wanted = [int(each) for each in numbers if each.isascii() and each.isdigit()]
    if not revision or not wanted:
        help_ = "name a commit as the second argument, and after it the sessions"
        raise TaskstateError("a revision or a session is missing", help=help_, code="usage")
    return restore(workspace, _task_of(path), wanted, revision, checker.surroundings.request(workspace)).notes


COMMANDS: Mapping[str, Callable[[Checker, Workspace, Path, tuple[str, ...]], tuple[str, ...]]] = {
    _ARCHIVE: _archive,
    _PULL: _pull,
    _FIX: _fix,
    _RENUMBER: _renumber,
    _BRING_BACK: _bring_back,
    _RESTORE: _restore,
    _RESTORE_SESSION: _restore_session,
}
