"""Records for the front matter blocks that the tool writes: context, baseline, coordination, delta, audit and others.

Pure and lenient: a value of the wrong type, as a hand edit may leave it, counts as absent; the linter checks the file
against its schema. The `values` of a record are its block as the file has it, with keys that people added, so that a
write can keep them.
"""

from __future__ import annotations

from taskstate.model.canonical_json import audit_seal
from taskstate.model.delta_block import Delta, Snapshot, read_delta
from taskstate.model.loose_values import HashedFile
from taskstate.model.loose_values import list_of as _list
from taskstate.model.loose_values import map_of as _map
from taskstate.model.loose_values import maps_of as _maps
from taskstate.model.loose_values import number_of as _number
from taskstate.model.loose_values import text_of as _text
from taskstate.model.loose_values import texts_of as _texts
from taskstate.model.names import hashed_artifact
from taskstate.model.role_findings import Finding, number_in_event, read_findings
from taskstate.model.statuses import BLOCKED, DROPPED, OF_ROLES, PENDING, RECORDED
from taskstate.syntax.spans import one_line
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping

UNBLOCKED = "unblocked"  # an event; that of a task that is blocked has the status as its name
IMPORTED = "imported"  # the event of a task that was done elsewhere, and came here as complete
REOPENED = "reopened"  # the event of `taskstate reopen`; that of `taskstate drop` is named like the status


class Context(NamedTuple):
    """The sources of the static part, when and by whom it was sealed, and the seal; all None where it is not sealed."""

    sealed_at: str | None
    sealed_by: str | None
    task_file: str | None
    task_file_sha: str | None
    seal: str | None
    sources: tuple[HashedFile, ...]
    values: Mapping[str, object]


class CheckResult(NamedTuple):
    """The result of one check: whether it passed, and its figures in one line."""

    ok: bool
    text: str


class Baseline(NamedTuple):
    """The results of the checks before the work began, and the log with their output."""

    status: str | None  # "recorded" where there are results; an older file says it by a key
    recorded_at: str | None
    log: str | None
    log_sha256: str | None
    results: Mapping[str, CheckResult]
    values: Mapping[str, object]

    @property
    def is_late(self) -> bool:
        """Whether it was taken after work had begun: what fails in it may be the work's fault."""
        return self.values.get("late") is True


class Role(NamedTuple):
    """The status of one role; `findings` are those on it, `budget` counts failed verifications of its snapshot.

    Where its checks gave the very log of the baseline, the file has no `qa`: they are the baseline's results.
    """

    name: str
    status: str
    completed_at: str | None
    session_id: str | None
    all_findings: tuple[Finding, ...]
    budget: int
    qa: Mapping[str, CheckResult]
    qa_log_path: str | None
    qa_log_sha256: str | None
    snapshot: Snapshot | None
    values: Mapping[str, object]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings that nobody has cleared yet."""
        return tuple(each for each in self.all_findings if not each.is_cleared)

    @property
    def open_findings(self) -> tuple[Finding, ...]:
        """The findings that wait for an answer."""
        return tuple(each for each in self.findings if each.is_open)

    @property
    def words(self) -> str:
        """The role and its status in words, for a message."""
        return f"{self.name} is {self.status.replace('_', ' ')}"


class Handoffs(NamedTuple):
    """The number of handoffs written so far, and the path of the open one, or None."""

    number: int
    open: str | None


class Event(NamedTuple):
    """An entry of the audit, such as a drift that was accepted; `entry` is its value in the file.

    `waived` are the gaps that a completion was allowed to leave, None where they are not listed.
    """

    at: str | None
    event: str | None
    role: str | None
    waived: tuple[str, ...] | None
    entry: object


class Audit(NamedTuple):
    """The block `audit`: events, and the seal over the tool's blocks."""

    events: tuple[Event, ...]
    seal: str | None
    values: Mapping[str, object]


class ToolBlocks(NamedTuple):
    """All tool-written blocks of a front matter; `values` is the whole front matter."""

    context: Context
    baseline: Baseline
    roles: Mapping[str, Role]
    delta: Delta
    evidence: tuple[Mapping[str, object], ...]
    handoffs: Handoffs
    audit: Audit
    values: Mapping[str, object]

    @property
    def edited(self) -> bool:
        """Whether the seal shows that a block was changed by hand."""
        return self.audit.seal is not None and self.audit.seal != audit_seal(self.values)

    @property
    def is_closed(self) -> bool:
        """Whether the task was completed or dropped by a command, and by none reopened since, whatever its status."""
        return "output" in self.values or self.is_dropped or self.is_imported

    @property
    def is_imported(self) -> bool:
        """Whether it was done elsewhere and imported as complete, and not reopened since."""
        return self._last_of({IMPORTED, REOPENED}) == IMPORTED

    @property
    def is_dropped(self) -> bool:
        """Whether an event says that the task was dropped, and none that it was reopened since."""
        return self._last_of({DROPPED, REOPENED}) == DROPPED

    def _last_of(self, names: Container[str]) -> str | None:
        """Return which of these events is the last."""
        return next((each.event for each in reversed(self.audit.events) if each.event and each.event in names), None)

    @property
    def why_blocked(self) -> str:
        """Why the task was blocked last, empty where no command did that."""
        notes = (_map(each.entry).get("note") for each in self._blockings)
        return one_line(str(next(notes, "") or ""))

    @property
    def blocked_at(self) -> str:
        """When the task was blocked last, empty where no command did that."""
        return next((each.at or "" for each in self._blockings), "")

    @property
    def _blockings(self) -> Iterator[Event]:
        return (each for each in reversed(self.audit.events) if each.event == BLOCKED)

    def role(self, name: str) -> Role:
        """Return the role of that name; one that the file does not mention is pending."""
        return self.roles.get(name) or _role(name, None, _Known(None, self.baseline, self.delta.snapshots), ())


class SeenState(NamedTuple):
    """The state of working tree and task when a handoff was written: `verified` in its front matter."""

    branch: str | None
    git_head: str | None
    tree: str | None
    baseline: str | None
    objectives: str | None
    dirty_files: int | None
    sessions: int | None
    values: Mapping[str, object]


def read_tool_blocks(values: Mapping[str, object]) -> ToolBlocks:
    """Return the tool-written blocks of a front matter, given as `write_metadata.front_matter_values` returns it."""
    delta, audit = read_delta(_map(values.get("delta"))), _audit(_map(values.get("audit")))
    coordination, task_id = _map(values.get("coordination")), values.get("task_id")
    baseline = _baseline(_map(values.get("baseline")), task_id)
    known = _Known(task_id, baseline, delta.snapshots)
    findings = read_findings(coordination, max((number_in_event(each.entry) for each in audit.events), default=0))
    return ToolBlocks(
        context=_context(_map(values.get("context"))),
        baseline=baseline,
        roles={name: _role(name, role, known, findings.get(name, ())) for name, role in coordination.items()},
        delta=delta,
        evidence=_maps(values.get("evidence")),
        handoffs=_handoffs(_map(values.get("handoffs"))),
        audit=audit,
        values=values,
    )


def _context(values: Mapping[str, object]) -> Context:
    keys = ("sealed_at", "sealed_by", "task_file", "task_file_sha", "seal")
    sources = tuple(HashedFile(**_texts(each, HashedFile._fields)) for each in _maps(values.get("sources")))
    return Context(**_texts(values, keys), sources=sources, values=values)


def _baseline(values: Mapping[str, object], task_id: object) -> Baseline:
    texts, results = _texts(values, ("status", "recorded_at", "log", "log_sha256")), _results(values.get("results"))
    texts["status"] = texts["status"] or (RECORDED if results else None)
    texts["log"] = texts["log"] if "log" in values else _log_path(task_id, "baseline", texts["log_sha256"])
    return Baseline(**texts, results=results, values=values)


def _log_path(task_id: object, owner: str, sha256: str | None) -> str | None:
    """Return where the log of checks lies among the artifacts, from the state folder, as long as nobody purges it."""
    return None if sha256 is None else hashed_artifact(str(task_id), f"qa-{owner}", sha256, ".log")


def _results(values: object) -> dict[str, CheckResult]:
    """Return the results of checks by name; entries that are not results are left out."""
    return {
        name: CheckResult(each["ok"], str(each.get("text") or ""))
        for name, each in _map(values).items()
        if isinstance(each, dict) and isinstance(each.get("ok"), bool) and not name.startswith("x-")
    }


class _Known(NamedTuple):
    """What a role's record is read by besides its own values."""

    task_id: object
    baseline: Baseline
    snapshots: Mapping[str, Snapshot]


def _role(name: str, value: object, known: _Known, findings: tuple[Finding, ...]) -> Role:
    values = value if isinstance(value, dict) else {"status": PENDING}
    status, baseline = values.get("status"), known.baseline
    texts = _texts(values, ("completed_at", "session_id", "qa_log_path", "qa_log_sha256"))
    sha = texts["qa_log_sha256"]
    if "qa_log_path" not in values:
        texts["qa_log_path"] = _log_path(known.task_id, name, sha)
    as_before = "qa" not in values and sha is not None and sha == baseline.log_sha256
    return Role(
        name=name,
        status=status if status in OF_ROLES else PENDING,
        all_findings=findings,
        budget=_number(values.get("drift_budget")),
        qa=baseline.results if as_before else _results(values.get("qa")),
        snapshot=known.snapshots.get(name),
        values=values,
        **texts,
    )


def _handoffs(values: Mapping[str, object]) -> Handoffs:
    count = values.get("count")
    return Handoffs(_number(0 if isinstance(count, bool) else count), _text(values.get("open")))


def _audit(values: Mapping[str, object]) -> Audit:
    seal = values.get("seal")  # one that is not a text was edited by hand: it must not pass for absent
    return Audit(
        events=tuple(map(_event, _list(values.get("events")))),
        seal=None if seal is None else str(seal),
        values=values,
    )


def _event(entry: object) -> Event:
    values = _map(entry)
    waived = values.get("waived")
    listed = tuple(map(str, waived)) if isinstance(waived, list) else None
    return Event(**_texts(values, ("at", "event", "role")), waived=listed, entry=entry)


def read_seen_state(value: object) -> SeenState:
    """Return the value `verified` of a handoff's front matter as a record."""
    values = _map(value)
    dirty_files, sessions = (values.get(key) for key in ("dirty_files", "sessions"))
    return SeenState(
        **_texts(values, ("branch", "git_head", "tree", "baseline", "objectives")),
        dirty_files=dirty_files if isinstance(dirty_files, int) else None,
        sessions=sessions if isinstance(sessions, int) else None,
        values=values,
    )
