"""Imports: reads, accounts, plans, proves and writes, in this order; what is refused stops nothing but itself."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import partial

from taskstate.errors import TaskstateError
from taskstate.exporting.items import texts_in
from taskstate.importing import again, into, write
from taskstate.importing.conserve import require_whole
from taskstate.importing.planning.plan import plan
from taskstate.importing.planning.tasks import Plan, Task, records_in, sha_of
from taskstate.importing.reading.sources import MAX_RECORDS, Source
from taskstate.importing.reading.values import MAX_TEXT
from taskstate.importing.records import Count, Left, Options, Other, Record, Refused, Told
from taskstate.importing.systems import FEATURE, reader_of
from taskstate.importing.text import Style, Written, written
from taskstate.importing.whole import as_it_was
from taskstate.lint import engine
from taskstate.lint.diagnostics import ERROR
from taskstate.model import names
from taskstate.model.chain import read_upstream, with_input
from taskstate.model.statuses import COMPLETE
from taskstate.model.write_metadata import with_write_metadata
from taskstate.secrets import scan
from taskstate.syntax import invisible
from taskstate.syntax.document import parse
from taskstate.syntax.spans import CONTROLS, hidden_in
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.writing import secret_check
from taskstate.writing.writer import diff_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypeAlias

    from taskstate.importing.planning.tasks import Known, Rules
    from taskstate.workspace.workspace import Workspace
    from taskstate.writing.change import Request

    _Found: TypeAlias = defaultdict[type, list[Any]]  # what the reader yields, by kind

_CREDENTIAL = "TS951"  # the rule about credentials, which are refused or were forced
_ADDRESS = re.compile(r"([^<>@\n]{0,200} <)?[\w.+-]{1,64}@[\w.-]{1,255}(>)?")


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


def run(workspace: Workspace, ask: Ask, request: Request) -> Run:
    """Import what is asked for; nothing is written on a dry run, where nothing is new, or where the counts disagree.

    Raises:
        TaskstateError: the source cannot be read as a whole; code "unsafe": something of it would get lost.
    """
    found = _read(ask, request, workspace)
    if ask.options.into:
        return _into(workspace, ask, found, request)
    with workspace.locked():
        here = again.here(workspace, ask.rules, found[Record])
        style = Style(workspace, request, ask.rules.system, {})
        planned, created, warnings = _planned(style, ask, found, here)
        changed = again.changed(planned.tasks, style)
        warnings += tuple(line for each in changed for line in each.warnings)
        counts = _counts(planned, ask.rules)
        gone = again.gone(planned.tasks, here, ask.rules, {each.id for each in planned.left})
        planned = planned._replace(told=(*planned.told, *gone))
        result = Run(planned, changed, tuple(found[Other]), sum(each.number for each in found[Count]), counts, warnings)
        operations = (*write.plan_of(created), *(each for known in changed for each in known.plan))
        if not result.is_whole or not operations:
            return result
        write.require_free(workspace, created)
        if request.dry_run:
            return result._replace(diff="".join(diff_of(workspace, each) for each in operations))
        write.write(workspace, operations, request)
    return result


def _into(workspace: Workspace, ask: Ask, found: _Found, request: Request) -> Run:
    """Add features to one task in place of making tasks; what cannot be one stands in the notes of one."""
    planned = plan(found[Record], ask.rules, ())
    part = sum(1 + each.parts(ask.rules.parts & {FEATURE}) for each in planned.tasks)
    everything = sum(records_in(each.record, ask.rules.parts) for each in planned.tasks)
    told = list[Told]()
    if kept := into.others(workspace, ask.options.into, planned.tasks):
        why = f"{ask.options.into} has others with the ids {', '.join(kept)}, which stay: `--prefix` gives new ids"
        told.append(Told("feature-exists", why))
    shown = _with_found(Plan((), planned.left, planned.refused, told), found)
    counts = _counts(shown, ask.rules) | {"part": part, "kept": everything - part}
    counts["in"] += everything
    result = Run(shown, (), tuple(found[Other]), sum(each.number for each in found[Count]), counts)
    if not result.is_whole:
        return result
    done = into.add(workspace, ask.options.into, planned.tasks, request)
    return result._replace(warnings=done.warnings, diff=done.diff)


def _with_found(planned: Plan, found: _Found) -> Plan:
    """Return a plan with what the reader left out, refused and told before what the plan does."""
    kinds = {"left": Left, "refused": Refused, "told": Told}
    return planned._replace(**{key: (*found[kind], *getattr(planned, key)) for key, kind in kinds.items()})


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


def _read(ask: Ask, request: Request, workspace: Workspace) -> _Found:
    """Read everything, by kind; records that must not come in are refused here, whatever they would become."""
    found: _Found = defaultdict(list)
    for each in reader_of(ask.rules.system)(ask.source, ask.options):
        if isinstance(each, Record):
            record = _cleaned(each, ask, found)
            fault = _fault(record, ask, request, workspace)
            parts = records_in(record, ask.rules.parts)
            taken = Refused(record.place, *fault, record.id, parts) if fault else record
            found[type(taken)].append(taken)
        else:
            found[type(each)].append(each)
        if len(found[Record]) > MAX_RECORDS:
            message = f"{ask.source.own_name} holds more than {MAX_RECORDS} records"
            raise TaskstateError(message, help="import it in parts", code="too-many")
    return found


def _cleaned(record: Record, ask: Ask, found: _Found) -> Record:
    """Return a record with what is hidden in it written out, and without people's addresses in its fields."""
    if ask.show_hidden:
        record = _with_texts(record, _shown)
    addresses = () if ask.people else tuple(each for each in texts_in(record.fields) if _ADDRESS.fullmatch(each))
    if not addresses:
        return record
    why = "e-mail addresses are left out: `--people` keeps them"
    found[Told].append(Told("address-left-out", why, record.place))
    return record._replace(fields=_with_texts(record.fields, _without_addresses), became=(*record.became, *addresses))


def _fault(record: Record, ask: Ask, request: Request, workspace: Workspace) -> tuple[str, str] | None:
    """Return the code and the words of what keeps a record from coming in, or None."""
    texts = [*texts_in(record.said)]
    said = "\n".join(texts)
    if not record.title.strip():
        return "no-title", "it has no title"
    if any(len(each) > MAX_TEXT for each in texts):
        return "too-large", f"a text of it has more than {MAX_TEXT // 1024**2} MiB"
    hidden = None if ask.show_hidden else hidden_in(said)
    if hidden:
        what = invisible.shown(hidden.of(said))
        return "hidden-text", f"it has invisible text: {what}; `--show-hidden` writes it visibly"
    secrets = () if request.force_secrets else scan.find(said, workspace.config.secrets.allow)
    first = next((each for each in secrets if each.kind != secret_check.INVISIBLE), None)
    return ("secret", f"{_near(record.said, said, first.span.start)} is something like {first.kind}") if first else None


def _near(said: object, whole: str, start: int) -> str:
    """Return where a place in all texts of a record is: the key of the value that has it, and the line in its text."""
    begin = 0
    for key, value in said.items() if isinstance(said, dict) else [("its text", said)]:
        end = begin + sum(len(each) + 1 for each in texts_in(value))
        if start < end:
            return f"near line {whole.count(chr(10), begin, start) + 1} of {key}"
        begin = end
    return "in its text"


def _shown(text: str) -> str:
    """Return a text with what is hidden in it written out as an escape."""
    text = re.sub(CONTROLS, lambda match: match[0].encode("unicode_escape", "backslashreplace").decode(), text)
    return invisible.escaped(text)


def _without_addresses(text: str) -> str:
    """Return a value without an e-mail address that it is or ends with; other texts stay."""
    match = _ADDRESS.fullmatch(text)
    return f"{match[1] or ''}(address left out){match[2] or ''}" if match else text


def _with_texts(value: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401 - any value that a record holds
    """Return a value with every text in it changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _with_texts(each, change) for key, each in value.items()}
    if isinstance(value, list | tuple):
        changed = [_with_texts(each, change) for each in value]
        return type(value)(*changed) if hasattr(value, "_fields") else type(value)(changed)
    return value


# Planning


def _planned(
    style: Style, ask: Ask, found: _Found, here: Sequence[Known]
) -> tuple[Plan, tuple[Written, ...], tuple[str, ...]]:
    """Return the plan and its files; what our own checks refuse is taken out, and the others are planned anew."""
    records, faulty = found[Record], dict[object, Refused]()
    results = dict[str, tuple[Task, Written | Refused]]()
    while True:
        planned, before, results = plan(records, ask.rules, here), results, {}
        for task in (each for each in planned.tasks if not each.is_known):
            known = before.get(task.id)  # most are as they were in the round before
            results[task.id] = known if known and known[0] == task else (task, _written(style, ask, task))
        faulty = {(task.record.place, task.sha): each for task, each in results.values() if isinstance(each, Refused)}
        if not faulty:
            break
        found[Refused] += faulty.values()
        records = [each for each in records if (each.place, sha_of(each)) not in faulty]
    made = {task.id: (task, each) for task, each in results.values() if isinstance(each, Written)}
    files_, warnings = list[Written](), list[str]()
    for task, each in made.values():
        text = each.text if task.record.files else _with_inputs(task, each, made, style)
        text, lines = write.forced(style.workspace, each.path, text, style.request)
        if text != each.text:
            text = with_write_metadata(text, style.request.metadata, revision=1)
        files_.append(each._replace(text=text))
        warnings += lines
    return _with_found(planned, found), tuple(files_), tuple(warnings)


def _with_inputs(task: Task, own: Written, made: Mapping[str, tuple[Task, Written]], style: Style) -> str:
    """Return a file with the outputs of the tasks that it builds on: what was done elsewhere is handed down, too."""
    workspace, text = style.workspace, own.text
    for each in task.depends_on if task.status != COMPLETE else ():
        if each in made:
            path, document = made[each][1].path, parse(made[each][1].text, workspace.kinds)
        else:
            try:
                loaded = workspace.load(workspace.locate(each))
            except TaskstateError:  # what cannot be read hands nothing down
                continue
            path, document = loaded.relative, loaded.document
        upstream = read_upstream(document, path)
        if upstream.output:
            text = with_input(parse(text, workspace.kinds), upstream, style.now, workspace.config)
    return text


def _written(style: Style, ask: Ask, task: Task) -> Written | Refused:
    """Return the file of a task, after proving that it is whole and sound; else why the task is refused."""
    refuse = partial(Refused, task.record.place, id=task.record.id, records=records_in(task.record, ask.rules.parts))
    source = ask.source.origin_of(task.record.place)
    try:
        result = as_it_was(style.workspace, task) if task.record.files else written(style, task, source)
        if not task.record.files:
            require_whole(task, result)
    except TaskstateError as error:
        return refuse(code=error.code, why=error.message)
    own = [(text, path) for path, text in result.all if names.own_file(path)]
    found = (each for text, path in own for each in engine.check(text, path, style.workspace.config))
    first = next((each for each in found if each.severity == ERROR and each.code != _CREDENTIAL), None)
    if first:
        return refuse(code="not-sound", why=f"what it becomes would not be sound: {first.code} {first.message}")
    return result
