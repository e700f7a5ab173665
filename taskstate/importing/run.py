"""Imports: reads, accounts, plans, proves and writes, in this order; what is refused stops nothing but itself."""

from __future__ import annotations

import re
from functools import partial

from taskstate.errors import TaskstateError
from taskstate.exporting.items import texts_in
from taskstate.importing import again, into, write
from taskstate.importing.conserve import require_whole
from taskstate.importing.planning.plan import plan
from taskstate.importing.planning.tasks import Plan, Task, records_in
from taskstate.importing.reading.sources import MAX_RECORDS, Source
from taskstate.importing.reading.values import MAX_TEXT
from taskstate.importing.records import Count, Left, Options, Other, Record, Refused, Told
from taskstate.importing.systems import FEATURE, reader_of
from taskstate.importing.text import Style, Written, written
from taskstate.importing.whole import as_it_was
from taskstate.lint import engine
from taskstate.lint.diagnostics import ERROR
from taskstate.model import names
from taskstate.model.write_metadata import with_event, with_write_metadata
from taskstate.secrets import scan
from taskstate.syntax import invisible
from taskstate.syntax.spans import CONTROLS, hidden_in
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.writing import secret_check
from taskstate.writing.writer import diff_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from taskstate.importing.planning.tasks import Known, Rules
    from taskstate.workspace.workspace import Workspace
    from taskstate.writing.change import Request

_CREDENTIAL = "TS951"  # the rule about credentials, which are refused or were forced
_TIMES = 20  # rounds in which a task is refused and the others are planned anew
_ADDRESS = re.compile(r"([^<>@\n]{0,200} <)?[\w.+-]{1,64}@[\w.-]{1,255}(>)?")
_NO_ADDRESS = "(address left out)"


class Ask(NamedTuple):
    """What is asked for: the system and its source, how to read and plan, and what is allowed to come in."""

    source: Source
    options: Options
    rules: Rules
    show_hidden: bool = False
    people: bool = False


class Run(NamedTuple):
    """What a run did, or on a dry run would do: the plan, the known tasks that changed, and both counts.

    `counted` is what the reader counted; `counts` are by outcome, and `in` is their sum.
    """

    plan: Plan
    changed: tuple[again.Changed, ...]
    others: tuple[Other, ...]
    counted: int
    counts: dict[str, int]
    warnings: tuple[str, ...] = ()
    diff: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether both counts agree."""
        return self.counted == self.counts["in"]


class _Read(NamedTuple):
    records: list[Record]
    left: list[Left]
    refused: list[Refused]
    told: list[Told]
    others: list[Other]
    counted: int


def run(workspace: Workspace, ask: Ask, request: Request) -> Run:
    """Import what is asked for; nothing is written on a dry run, where nothing is new, or where the counts disagree.

    Raises:
        TaskstateError: the source cannot be read as a whole; code "unsafe": something of it would get lost.
    """
    read = _read(ask, request, workspace)
    if ask.options.into:
        return _into(workspace, ask, read, request)
    with workspace.locked():
        here = again.here(workspace, ask.rules, read.records)
        style = Style(workspace, request, ask.rules.system, {})
        planned, files_, warnings = _planned(style, ask, read, here)
        counts = _counts(planned, ask.rules)
        changed = again.changed(planned.tasks, style)
        gone = again.gone(planned.tasks, here, ask.rules, {each.id for each in planned.left})
        planned = planned._replace(told=(*planned.told, *gone))
        result = Run(planned, changed, tuple(read.others), read.counted, counts, warnings)
        operations = (*write.plan_of(files_), *(each for known in changed for each in known.plan))
        if not result.is_whole or not operations:
            return result
        write.require_free(workspace, files_)
        if request.dry_run:
            return result._replace(diff="".join(diff_of(workspace, each) for each in operations))
        write.write(workspace, operations, files_, request)
    return result


def _into(workspace: Workspace, ask: Ask, read: _Read, request: Request) -> Run:
    """Add features to one task in place of making tasks; what cannot be one stands in the notes of one."""
    planned = plan(read.records, ask.rules, ())
    own = ask.rules.parts & {FEATURE}
    part = sum(1 + each.parts(own) for each in planned.tasks)
    everything = sum(records_in(each.record, ask.rules.parts) for each in planned.tasks)
    shown = Plan((), (*read.left, *planned.left), (*read.refused, *planned.refused), tuple(read.told))
    counts = _counts(shown, ask.rules) | {"part": part, "kept": everything - part}
    counts["in"] += everything
    result = Run(shown, (), tuple(read.others), read.counted, counts)
    if not result.is_whole:
        return result
    done = into.add(workspace, ask.options.into, planned.tasks, request)
    return result._replace(warnings=done.warnings, diff=done.diff)


def _counts(planned: Plan, rules: Rules) -> dict[str, int]:
    counts = {
        "task": len(planned.tasks),
        "part": sum(each.parts(rules.parts) for each in planned.tasks),
        "kept": sum(each.kept for each in planned.tasks),
        "left": sum(each.records for each in planned.left),
        "refused": sum(each.records for each in planned.refused),
    }
    return {"in": sum(counts.values()), **counts}


# Reading


def _read(ask: Ask, request: Request, workspace: Workspace) -> _Read:
    """Read everything into records; what must not come in is refused here, whatever it would become."""
    found = _Read([], [], [], [], [], 0)
    counted = 0
    for each in reader_of(ask.rules.system)(ask.source, ask.options):
        if isinstance(each, Count):
            counted += each.number
        elif isinstance(each, Record):
            _take(found, each, ask, request, workspace)
        else:
            _list_of(found, each).append(each)
        if len(found.records) > MAX_RECORDS:
            message = f"{ask.source.own_name} holds more than {MAX_RECORDS} records"
            raise TaskstateError(message, help="import it in parts", code="too-many")
    return found._replace(counted=counted)


def _list_of(found: _Read, each: Left | Refused | Told | Other) -> list[Any]:
    lists = ((Left, found.left), (Refused, found.refused), (Told, found.told), (Other, found.others))
    return next(into for kind, into in lists if isinstance(each, kind))


def _take(found: _Read, record: Record, ask: Ask, request: Request, workspace: Workspace) -> None:
    """Add a record, or a refusal of one that holds what must not be written."""
    if ask.show_hidden:
        record = _with_texts(record, _shown)
    if not ask.people:
        kept = _with_texts(record.fields, _without_addresses)
        if kept != record.fields:
            found.told.append(
                Told("address-left-out", "e-mail addresses are left out: `--people` keeps them", record.place)
            )
            record = record._replace(fields=kept, became=(*record.became, *_addresses(record.fields)))
    said = "\n".join(texts_in(record.said))
    fault = _fault(record, said, ask, request, workspace)
    if fault:
        code, why = fault
        found.refused.append(Refused(record.place, code, why, record.id, records_in(record, ask.rules.parts)))
    else:
        found.records.append(record)


def _fault(record: Record, said: str, ask: Ask, request: Request, workspace: Workspace) -> tuple[str, str] | None:
    """Return the code and the words of what keeps a record from coming in, or None."""
    if not record.title.strip():
        return "no-title", "it has no title"
    if any(len(each) > MAX_TEXT for each in texts_in(record.said)):
        return "too-large", f"a text of it has more than {MAX_TEXT // 1024**2} MiB"
    hidden = None if ask.show_hidden else hidden_in(said)
    if hidden:
        what = invisible.shown(hidden.of(said))
        return "hidden-text", f"it has invisible text: {what}; `--show-hidden` writes it visibly"
    secrets = () if request.force_secrets else scan.find(said, workspace.config.secrets.allow)
    secrets = tuple(each for each in secrets if each.kind != secret_check.INVISIBLE)
    if secrets:
        return "secret", f"{_near(record.said, said, secrets[0].span.start)} is something like {secrets[0].kind}"
    return None


def _near(said: object, whole: str, start: int) -> str:
    """Return where a place in all texts of a record is: the key of the value that has it, and the line in its text."""
    values = said.items() if isinstance(said, dict) else [("its text", said)]
    end = 0
    for key, value in values:
        text = "\n".join(texts_in(value))
        begin, end = end, end + len(text) + 1
        if text and start < end:
            return f"near line {whole.count(chr(10), begin, start) + 1} of {key}"
        end = end if text else begin
    return "in its text"


def _shown(text: str) -> str:
    """Return a text with what is hidden in it written out as an escape."""
    text = re.sub(CONTROLS, lambda match: match[0].encode("unicode_escape", "backslashreplace").decode(), text)
    return invisible.escaped(text)


def _without_addresses(text: str) -> str:
    """Return a value without an e-mail address that it is or ends with; other texts stay."""
    match = _ADDRESS.fullmatch(text)
    return f"{match[1] or ''}{_NO_ADDRESS}{match[2] or ''}" if match else text


def _addresses(value: object) -> Iterator[str]:
    yield from (each for each in texts_in(value) if _without_addresses(each) != each)


def _with_texts(value: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401 - any value that a record holds
    """Return a value with every text in it changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _with_texts(each, change) for key, each in value.items()}
    if isinstance(value, list):
        return [_with_texts(each, change) for each in value]
    if isinstance(value, tuple):
        changed = (_with_texts(each, change) for each in value)
        return type(value)(*changed) if hasattr(value, "_fields") else tuple(changed)
    return value


# Planning


def _planned(
    style: Style, ask: Ask, read: _Read, here: Sequence[Known]
) -> tuple[Plan, tuple[Written, ...], tuple[str, ...]]:
    """Return the plan and its files; what our own checks refuse is taken out, and the others are planned anew."""
    refused, records = list(read.refused), read.records
    planned, results = Plan((), (), (), ()), dict[str, tuple[Task, Written | Refused]]()
    for _round in range(_TIMES):
        planned, before, results = plan(records, ask.rules, here), results, {}
        for task in (each for each in planned.tasks if not each.is_known):
            known = before.get(task.id)  # most are as they were in the round before
            results[task.id] = known if known and known[0] == task else (task, _written(style, ask, task))
        faulty = {task.record.place: each for task, each in results.values() if isinstance(each, Refused)}
        if not faulty:
            break
        refused += faulty.values()
        records = [each for each in records if each.place not in faulty]
    files_ = tuple(result for _, result in results.values() if isinstance(result, Written))
    planned = planned._replace(
        left=(*read.left, *planned.left),
        refused=(*refused, *planned.refused),
        told=(*read.told, *planned.told),
    )
    forced = [_forced(each, style) for each in files_] if style.request.force_secrets else []
    if forced:
        files_ = tuple(each for each, _ in forced)
    return planned, files_, tuple(line for _, lines in forced for line in lines)


def _written(style: Style, ask: Ask, task: Task) -> Written | Refused:
    """Return the file of a task, after proving that it is whole and sound; else why the task is refused."""
    refuse = partial(Refused, task.record.place, id=task.record.id, records=records_in(task.record, ask.rules.parts))
    source = ask.source.origin_of(task.record.place)
    try:
        result = as_it_was(style.workspace, task) if task.record.files else written(style, task, source)
    except TaskstateError as error:
        return refuse(code=error.code, why=error.message)
    if not task.record.files:
        require_whole(task, result)
    own = [(path, text.encode()) for path, text in result.all if names.own_file(path)]
    found = [finding for path, data in own for finding in engine.findings(data, path, style.workspace.config)]
    errors = [each for each in found if each.diagnostic.severity == ERROR and each.diagnostic.code != _CREDENTIAL]
    if errors:
        first = errors[0].diagnostic
        return refuse(code="not-sound", why=f"what it becomes would not be sound: {first.code} {first.message}")
    return result


def _forced(each: Written, style: Style) -> tuple[Written, tuple[str, ...]]:
    """Return a file with the event that says what was written although it looks like a credential, and warnings."""
    request, secrets = style.request, secret_check.new_secrets(each.text, style.workspace.config)
    if not secrets:
        return each, ()
    lines = secret_check.describe(each.text, secrets, each.path)
    found = secret_check.SecretFindings(lines, tuple(secret.kind for secret in secrets))
    text = with_event(each.text, secret_check.audit_event(found, request.metadata))
    text = with_write_metadata(text, request.metadata, revision=1)
    return each._replace(text=text), secret_check.warnings(lines)
