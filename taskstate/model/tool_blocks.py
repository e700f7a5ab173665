"""The blocks of a state file's front matter that the tool keeps for itself, as records.

Pure, and loose: a hand may have written anything, so what has the wrong type counts as absent, and nothing is refused;
the linter holds the file against its schema. The `values` of a record are the block as it stands in the file, with the
keys that people have added: what is written is made from them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taskstate.model.canonical_json import audit_seal
from taskstate.model.statuses import OF_ROLES, PENDING

if TYPE_CHECKING:
    from collections.abc import Mapping


class HashedFile(NamedTuple):
    """A file by its path from the repository's root, and its SHA-256 at some time."""

    path: str | None
    sha256: str | None


class Context(NamedTuple):
    """What the static part was captured from, when and by whom, and its seal; all None where it is not sealed."""

    sealed_at: str | None
    sealed_by: str | None
    git_head: str | None
    task_file: str | None
    task_file_sha: str | None
    seal: str | None
    sources: tuple[HashedFile, ...]
    values: Mapping[str, object]


class CheckResult(NamedTuple):
    """What one check gave: whether all is well, and the figures in one line."""

    ok: bool
    text: str


class Baseline(NamedTuple):
    """The results of the checks before the work began, and the log that they were read from."""

    status: str | None
    recorded_at: str | None
    log: str | None
    log_sha256: str | None
    results: Mapping[str, CheckResult]
    values: Mapping[str, object]


class Snapshot(NamedTuple):
    """The working tree as a role left it.

    `files_changed` are the entries of the changed files, None where they are in the artifact `file_list` or nowhere.
    """

    base_commit: str | None
    snapshot_time: str | None
    actor: str | None
    tree: str | None
    index_tree: str | None
    diff_from_base: str | None
    diff_sha: str | None
    diff_stat: str | None
    status_report_sha: str | None
    scope_hash: str | None
    incremental_diff: str | None
    incremental_diff_sha: str | None
    incremental_diff_error: str | None
    pack: str | None
    files_changed: tuple[object, ...] | None
    file_list: HashedFile | None
    values: Mapping[str, object]


class Delta(NamedTuple):
    """The commit that the work starts from, and the snapshot that each role left."""

    base_commit: str | None
    snapshots: Mapping[str, Snapshot]
    values: Mapping[str, object]


class Role(NamedTuple):
    """Where one role stands: its findings are what blocks it, its budget counts the failed checks of its snapshot."""

    name: str
    status: str
    completed_at: str | None
    session_id: str | None
    findings: tuple[str, ...]
    budget: int
    qa: Mapping[str, CheckResult]
    qa_log_path: str | None
    qa_log_sha256: str | None
    snapshot: Snapshot | None
    values: Mapping[str, object]

    @property
    def words(self) -> str:
        """The role and its status, as a sentence has them."""
        return f"{self.name} is {self.status.replace('_', ' ')}"


class Handoffs(NamedTuple):
    """How many handoffs were written, and the path of the one that is open, None where none is."""

    number: int
    open: str | None


class Event(NamedTuple):
    """Something that must be remembered, such as a drift that was accepted; `entry` is how it stands in the list.

    `waived` are the gaps that it let a completion pass, None where it does not list them.
    """

    at: str | None
    event: str | None
    role: str | None
    waived: tuple[str, ...] | None
    entry: object


class Audit(NamedTuple):
    """Who wrote last, how often the tool has written, the events, and the seal over the tool's blocks."""

    update_count: int
    events: tuple[Event, ...]
    seal: str | None
    values: Mapping[str, object]


class ToolBlocks(NamedTuple):
    """All blocks of one front matter, whose `values` are the whole of it."""

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
        """Whether the seal says that a block was changed by hand."""
        return self.audit.seal is not None and self.audit.seal != audit_seal(self.values)

    def role(self, name: str) -> Role:
        """Return where a role stands; one that the file does not mention is pending."""
        return self.roles.get(name) or _role(name, None, self.delta.snapshots)


class SeenState(NamedTuple):
    """What the tool saw of working tree and state file when a handoff was written: `verified` in that document."""

    branch: str | None
    git_head: str | None
    tree: str | None
    baseline: str | None
    objectives: str | None
    dirty_files: int | None
    sessions: int | None
    values: Mapping[str, object]


def read_tool_blocks(values: Mapping[str, object]) -> ToolBlocks:
    """Return the tool's blocks of a front matter, given as `write_metadata.front_matter_values` returns it."""
    delta = read_delta(_map(values.get("delta")))
    return ToolBlocks(
        context=_context(_map(values.get("context"))),
        baseline=_baseline(_map(values.get("baseline"))),
        roles={name: _role(name, told, delta.snapshots) for name, told in _map(values.get("coordination")).items()},
        delta=delta,
        evidence=_maps(values.get("evidence")),
        handoffs=_handoffs(_map(values.get("handoffs"))),
        audit=_audit(_map(values.get("audit"))),
        values=values,
    )


def _context(told: Mapping[str, object]) -> Context:
    keys = ("sealed_at", "sealed_by", "git_head", "task_file", "task_file_sha", "seal")
    sources = tuple(HashedFile(**_texts(each, HashedFile._fields)) for each in _maps(told.get("sources")))
    return Context(**_texts(told, keys), sources=sources, values=told)


def _baseline(told: Mapping[str, object]) -> Baseline:
    keys = ("status", "recorded_at", "log", "log_sha256")
    return Baseline(**_texts(told, keys), results=_results(told.get("results")), values=told)


def _results(told: object) -> dict[str, CheckResult]:
    """Return the results of checks by name; what is no result is left out."""
    return {
        name: CheckResult(each["ok"], str(each.get("text") or ""))
        for name, each in _map(told).items()
        if isinstance(each, dict) and isinstance(each.get("ok"), bool) and not name.startswith("x-")
    }


def read_delta(told: Mapping[str, object]) -> Delta:
    """Return the delta-tracking block as a record."""
    snapshots = _map(told.get("snapshots")).items()
    found = {name: _snapshot(each) for name, each in snapshots if isinstance(each, dict) and each}
    return Delta(_text(told.get("base_commit")), found, told)


def with_snapshots(delta: Delta, changed: Mapping[str, Mapping[str, object]]) -> dict[str, object]:
    """Return the delta-tracking block as values, with other snapshots for some roles."""
    snapshots = {**_map(delta.values.get("snapshots")), **changed}
    return {**delta.values, **({"snapshots": snapshots} if snapshots else {})}


def _snapshot(told: Mapping[str, object]) -> Snapshot:
    listed = told.get("files_changed")
    return Snapshot(
        **_texts(told, Snapshot._fields[: Snapshot._fields.index("files_changed")]),
        files_changed=tuple(listed) if isinstance(listed, list) else None,
        file_list=HashedFile(**_texts(listed, HashedFile._fields)) if isinstance(listed, dict) else None,
        values=told,
    )


def _role(name: str, value: object, snapshots: Mapping[str, Snapshot]) -> Role:
    told = value if isinstance(value, dict) else {"status": PENDING}
    status = told.get("status")
    return Role(
        name=name,
        status=status if status in OF_ROLES else PENDING,
        findings=tuple(map(str, _list(told.get("blocking_findings")))),
        budget=_number(told.get("drift_budget")),
        qa=_results(told.get("qa")),
        snapshot=snapshots.get(name),
        values=told,
        **_texts(told, ("completed_at", "session_id", "qa_log_path", "qa_log_sha256")),
    )


def _handoffs(told: Mapping[str, object]) -> Handoffs:
    count = told.get("count")
    return Handoffs(_number(0 if isinstance(count, bool) else count), _text(told.get("open")))


def _audit(told: Mapping[str, object]) -> Audit:
    seal = told.get("seal")  # one that is no text agrees with nothing, and is not absent: somebody edited it
    return Audit(
        update_count=_number(told.get("update_count")),
        events=tuple(map(_event, _list(told.get("events")))),
        seal=None if seal is None else str(seal),
        values=told,
    )


def _event(entry: object) -> Event:
    told = _map(entry)
    waived = told.get("waived")
    listed = tuple(map(str, waived)) if isinstance(waived, list) else None
    return Event(**_texts(told, ("at", "event", "role")), waived=listed, entry=entry)


def read_seen_state(value: object) -> SeenState:
    """Return what the front matter of a handoff document holds under `verified`."""
    told = _map(value)
    dirty_files, sessions = (told.get(key) for key in ("dirty_files", "sessions"))
    return SeenState(
        **_texts(told, ("branch", "git_head", "tree", "baseline", "objectives")),
        dirty_files=dirty_files if isinstance(dirty_files, int) else None,
        sessions=sessions if isinstance(sessions, int) else None,
        values=told,
    )


def _texts(told: Mapping[str, object], keys: tuple[str, ...]) -> dict[str, str | None]:
    return {key: _text(told.get(key)) for key in keys}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _map(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _maps(value: object) -> tuple[Mapping[str, object], ...]:
    return tuple(each for each in _list(value) if isinstance(each, dict))
