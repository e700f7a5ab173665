"""`doctor`: checks the set-up and repairs it; reseals a task; gives a task another id; shows what was replaced."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.messages import counted
from taskstate.operations.call import usage_error
from taskstate.operations.operation import Operation, option, positional, switch
from taskstate.operations.result import Result, changed
from taskstate.syntax.spans import one_line
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.doctor.problem import RepositoryProblem
    from taskstate.operations.call import Call
    from taskstate.operations.operation import Name, Text
    from taskstate.storage.replaced_texts import KeptText


class Doctor(NamedTuple):
    """The arguments of `doctor`."""

    fix: bool = switch("repair problems where nothing can be lost")
    let_go: Name | None = option("ID", "say that what is gone from a task was removed on purpose")
    reseal: str | None = option("ID", "accept manual changes to a block that only taskstate writes")
    note: Text | None = option("TEXT", "reason for --reseal; it is recorded")


class Renumber(NamedTuple):
    """The arguments of `doctor renumber`."""

    old: str = positional("OLD", "task whose id changes in all files: its id, or a path where two files have that id")
    new: str = positional("NEW", "new id")


class KeptList(NamedTuple):
    """The arguments of `doctor kept list`: none."""


class KeptShow(NamedTuple):
    """The arguments of `doctor kept show`."""

    id: str = positional("ID", "id of the text, as `taskstate doctor kept list` prints it")


class KeptDiscard(NamedTuple):
    """The arguments of `doctor kept discard`."""

    ids: tuple[Name, ...] = positional("ID", "ids of the texts, as `taskstate doctor kept list` says them")


def doctor(call: Call, asked: Doctor) -> Result:
    """Check the set-up and whether recorded work is still there; repair both with --fix. Or reseal a task."""
    if asked.reseal is not None:
        return _reseal(call, asked.reseal, asked.note)
    if asked.let_go is not None:
        return _let_go(call, asked.let_go)
    if asked.note is not None:
        raise usage_error("doctor --note belongs to --reseal", help="name the task with --reseal")
    return _check(call, fix=asked.fix)


def _check(call: Call, *, fix: bool) -> Result:
    from taskstate.doctor.examine import CHECKS, examine
    from taskstate.doctor.problem import RepositoryProblem

    try:
        workspace = call.workspace
    except TaskstateError as error:
        if error.code != "config":
            raise
        problem = RepositoryProblem("configuration", "", error.message, error.help)
        return _report((problem,), (), ("configuration",))
    call.told = ()  # the report says it
    with call.bar("checking") as progress:
        problems = examine(workspace, progress)
    repairs: tuple[str, ...] = ()
    if fix and not call.dry_run:
        from taskstate.doctor.repairs import repair

        repairs = repair(workspace, problems, call.request())
        with call.bar("checking again") as progress:
            problems = examine(workspace, progress)
    return _report(problems, repairs, ("configuration", *CHECKS))


def _report(problems: tuple[RepositoryProblem, ...], repairs: tuple[str, ...], checks: tuple[str, ...]) -> Result:
    from taskstate.secrets.mask import masked

    problems = tuple(each._replace(message=masked(each.message), help=masked(each.help)) for each in problems)
    errors = [problem for problem in problems if not problem.note]
    lines = [one_line(each) for each in (*repairs, *map(_line, problems))]
    lines.append(_summary(len(errors), len(checks)) if errors else f"{len(checks)} checks, nothing is wrong")
    data = {"checks": checks, "ailments": [problem._asdict() for problem in problems], "mended": repairs}
    return Result(data, "\n".join(lines), status=1 if errors else 0)


def _summary(errors: int, checks: int) -> str:
    return f"{checks} checks, {errors} {'thing is' if errors == 1 else 'things are'} wrong"


def _line(problem: RepositoryProblem) -> str:
    where = f"{problem.path}: " if problem.path else ""
    help_ = f"; {problem.help}" if problem.help else ""
    return f"{'note' if problem.note else 'wrong'}  {problem.check:12}  {where}{problem.message}{help_}"


def _reseal(call: Call, task: str, note: str | None) -> Result:
    from taskstate.doctor.repairs import reseal

    if not note:
        raise usage_error("doctor --reseal: --note is missing", help="say why the change is right")
    return changed(call, reseal(call.workspace, call.task_id(task), note, call.request()), "sealed again")


def _let_go(call: Call, task: str) -> Result:
    from taskstate.doctor.repairs import let_go
    from taskstate.model.names import parse_task_id
    from taskstate.writing.startup import losses_of

    task_id = parse_task_id(task)
    if call.dry_run:
        return Result({"let_go": None}, "nothing would change")
    message = let_go(call.workspace, task_id, call.request())
    call.told = losses_of(call.workspace)
    return Result({"let_go": task_id}, message)


def renumber(call: Call, asked: Renumber) -> Result:
    """Change the id of a task, in all files."""
    from taskstate.model.names import own_file, parse_task_id
    from taskstate.storage import folders
    from taskstate.storage.paths import real
    from taskstate.tasks.renumber import renumber as change_id

    own, path = own_file(asked.old), real(asked.old)
    if not (own and own.type == "state" and folders.is_file(path)):
        path = call.workspace.locate(parse_task_id(asked.old))
    return changed(call, change_id(call.workspace, path, parse_task_id(asked.new), call.request()), "renumbered")


def kept_list(call: Call, asked: KeptList) -> Result:  # noqa: ARG001 - the interface of an operation
    """List the texts that a repair, restore or migration replaced, and that nobody has discarded yet."""
    from taskstate.storage import replaced_texts

    found = replaced_texts.texts(call.workspace.private)
    lines = [_kept_line(each) for each in found]
    return Result({"texts": [_kept_shape(each) for each in found]}, "\n".join(lines) or "nothing is kept")


def kept_show(call: Call, asked: KeptShow) -> Result:
    """Print a text that was replaced, byte for byte."""
    from taskstate.storage import replaced_texts

    found = replaced_texts.find(call.workspace.private, asked.id)
    content = found.data()
    data = {**_kept_shape(found), "text": content.decode("utf-8", "replace")}
    return Result(data, "", raw=content, is_verbatim=True)


def kept_discard(call: Call, asked: KeptDiscard) -> Result:
    """Delete replaced texts for good: only those that are named."""
    from taskstate.storage import replaced_texts

    if not asked.ids:
        raise usage_error("no ID is given", help="`taskstate doctor kept list` says which there are")
    found = replaced_texts.discard(call.workspace.private, asked.ids)
    lines = [f"discarded {each.id}: {_shown_path(each)}" for each in found]
    return Result({"discarded": [each.id for each in found]}, "\n".join(lines))


def _kept_line(text: KeptText) -> str:
    size = counted(text.size, "byte")
    return f"{text.id}  {text.at or 'unknown time'}  {size}  {text.by or 'unknown command'}  {_shown_path(text)}"


def _kept_shape(text: KeptText) -> dict[str, object]:
    return {"id": text.id, "path": _shown_path(text), "at": text.at, "bytes": text.size, "command": text.by}


def _shown_path(text: KeptText) -> str:
    from taskstate.storage.files import shown

    return shown(text.path) or "a path that is not known"


OPERATIONS = (
    Operation("doctor", "check and repair the set-up, bring back lost work", doctor, Doctor, writes=True),
    Operation("doctor renumber", "give a task another id", renumber, Renumber, writes=True),
    Operation("doctor kept list", "list the texts that were replaced", kept_list, KeptList),
    Operation("doctor kept show", "print a text that was replaced", kept_show, KeptShow),
    Operation("doctor kept discard", "delete texts that were replaced", kept_discard, KeptDiscard),
)
