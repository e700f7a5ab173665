"""Lists all rules in the order of their codes: to add a rule, add its file and one line here.

The line alone says which files the rule applies to, and by which sign a fault is noticed at all. The rule's module is
imported only for a file with that sign: a healthy file needs hardly any, and imports take most of the start-up time.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from operator import attrgetter

from taskstate.lint.queries import interface
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from types import ModuleType

    from taskstate.lint.facts.signs import Signs

_STATE = frozenset({"state"})
_FRONT = frozenset({"state", "handoff"})  # files with front matter
_MARKDOWN = frozenset({"state", "handoff", "archive"})
_SESSIONS = frozenset({"state", "archive"})
_JSON = frozenset({"state", "impact-map", "progress"})
_PATHS = frozenset({"state", "handoff", "impact-map"})
_HANDOFF = frozenset({"handoff"})
_PROGRESS = frozenset({"progress"})
_ANY = _MARKDOWN | _JSON
_REMOVED = frozenset({"removed"})
_IMPACT_MAP = frozenset({"state", "impact-map"})

_HISTORY, _ARCHIVE, _UPSTREAM, _REPOSITORY, _GIT = (
    frozenset({need})
    for need in (interface.HISTORY, interface.ARCHIVE, interface.UPSTREAM, interface.REPOSITORY, interface.GIT)
)


@cache
def _load(module: str) -> ModuleType:
    return import_module(f"taskstate.lint.rules.{module}")


@cache
def _getter(sign: str) -> attrgetter[object]:
    return attrgetter(sign)


class Row(NamedTuple):
    """A rule whose module is not loaded yet: its code, its module, and the files that it applies to.

    `files` are the types of own files that it checks. `needs` names the kinds of queries (see `queries.interface`)
    without which it cannot run. `keys` are keys of the front matter: in a file with none of them it finds nothing.
    `sign` names one of the `Signs`, or a fact: where that is empty or false the rule finds nothing.
    """

    code: str
    module: str
    files: frozenset[str] = _STATE
    needs: frozenset[str] = frozenset()
    keys: tuple[str, ...] = ()
    sign: str = ""

    @property
    def name(self) -> str:
        """The rule's name, which is that of its module."""
        return self.module.rpartition(".")[2].replace("_", "-")

    def load(self) -> ModuleType:
        """Return the rule's module, with its `RULE` and its `check`."""
        return _load(self.module)

    def applies_to(self, signs: Signs) -> bool:
        """Return whether the rule may find something: the file has a key that it is about, and the rule's sign.

        JSON has no front matter to judge by.
        """
        front_matter = signs.document.front_matter
        if self.keys and not signs.facts.is_json and not any(key in front_matter for key in self.keys):
            return False
        return not self.sign or bool(_getter(self.sign)(signs))


TABLE: tuple[Row, ...] = (
    Row("TS001", "file.not_utf8", files=_ANY, sign="never"),
    Row("TS002", "file.front_matter_missing", files=_FRONT, sign="facts.document.problems"),
    Row("TS003", "file.front_matter_yaml", files=_FRONT, sign="front_matter_faults"),
    Row("TS004", "file.fence_unclosed", files=_MARKDOWN, sign="facts.document.problems"),
    Row("TS005", "file.json_invalid", files=_JSON, sign="facts.json_faults"),
    Row("TS006", "file.control_characters", files=_ANY, sign="controls"),
    Row("TS007", "file.merge_conflict", files=_ANY, sign="facts.conflicts"),
    Row("TS008", "file.file_name", files=_FRONT, sign="misnamed"),
    Row("TS009", "file.unsupported_version", files=_FRONT, sign="unusual_version"),
    Row("TS010", "file.unused_ignore", files=_MARKDOWN, sign="never"),
    Row("TS011", "file.duplicate_id", needs=_REPOSITORY, sign="same_id"),
    Row("TS012", "file.state_removed", files=_REMOVED, needs=_HISTORY),
    Row("TS101", "front_matter.front_matter_schema", files=_FRONT, sign="facts.front_matter_faults"),
    Row("TS102", "front_matter.unknown_key", files=_FRONT, sign="facts.front_matter_faults"),
    Row("TS103", "front_matter.timestamp_format", files=_FRONT, sign="inexact_times"),
    Row("TS104", "front_matter.timestamps_order", sign="disordered_times"),
    Row("TS105", "front_matter.counts_differ", sign="wrong_counts"),
    Row("TS106", "front_matter.key_order", sign="disordered_keys"),
    Row("TS107", "front_matter.status_transition", needs=_HISTORY, sign="facts.changed"),
    Row("TS201", "sections.section_missing", sign="facts.outline.absent"),
    Row("TS202", "sections.section_order", sign="facts.outline.displaced"),
    Row("TS203", "sections.section_duplicate", sign="facts.outline.repeated"),
    Row("TS204", "sections.section_unknown", sign="facts.outline.undeclared"),
    Row("TS205", "sections.heading_style", sign="unusual_headings"),
    Row("TS206", "sections.title_mismatch", sign="unusual_title"),
    Row("TS207", "sections.hidden_section", sign="incomplete"),
    Row("TS208", "sections.subsection_missing", sign="facts.outline.unfilled"),
    Row("TS209", "sections.section_renamed", sign="facts.outline.absent"),
    Row("TS301", "checklist.checklist_schema", sign="checklist_faults"),
    Row("TS302", "checklist.feature_id_duplicate", sign="repeated_features"),
    Row("TS303", "checklist.passes_without_proof", sign="untested_features"),
    Row("TS304", "checklist.progress_differs", sign="wrong_progress"),
    Row("TS305", "checklist.feature_rewritten", needs=_HISTORY, sign="facts.changed"),
    Row("TS306", "checklist.phase_schema", sign="facts.phases"),
    Row("TS307", "checklist.objective_rewritten", files=_STATE | _PROGRESS, needs=_HISTORY, sign="facts.changed"),
    Row("TS308", "checklist.feature_unpassed", needs=_HISTORY, sign="facts.changed"),
    Row("TS309", "checklist.progress_file", files=_PROGRESS),
    Row("TS310", "checklist.criterion_malformed", sign="malformed_criteria"),
    Row("TS311", "checklist.proof_missing", sign="doubtful_proofs"),
    Row("TS401", "sessions.session_heading", sign="odd_session_headings"),
    Row("TS402", "sessions.session_number", sign="odd_numbers"),
    Row("TS403", "sessions.session_time", sign="odd_session_times"),
    Row("TS404", "sessions.session_field_missing", sign="unfinished_sessions"),
    Row("TS405", "sessions.session_rewritten", needs=_HISTORY, sign="facts.changed"),
    Row("TS406", "sessions.no_next_step", sign="no_next_step"),
    Row("TS407", "sessions.archive_mismatch", files=_SESSIONS, needs=_ARCHIVE, sign="archive"),
    Row("TS408", "sessions.no_session_recorded", needs=_HISTORY, sign="work_changed"),
    Row("TS410", "sessions.commit_unknown", needs=_GIT),
    Row("TS411", "sessions.session_misplaced", sign="facts.outline.misplaced"),
    Row("TS412", "sessions.session_in_future", sign="in_future"),
    Row("TS501", "size.size_warning", sign="too_large"),
    Row("TS502", "size.size_limit", sign="too_large"),
    Row("TS503", "size.too_many_sessions", sign="many_sessions"),
    Row("TS504", "size.long_value", sign="long_values"),
    Row("TS505", "size.too_large_to_archive", sign="too_large"),
    Row("TS601", "context.static_part_changed", keys=("context",)),
    Row("TS602", "context.citation_stale", needs=_REPOSITORY, sign="citations"),
    Row("TS603", "context.citation_form", sign="citations"),
    Row("TS604", "context.task_file_changed", needs=_REPOSITORY, keys=("context",)),
    Row("TS606", "front_matter.tool_block_edited", sign="facts.blocks.edited"),
    Row("TS607", "front_matter.seal_removed", needs=_HISTORY, sign="facts.changed"),
    Row("TS701", "coordination.coordination_order", sign="done_roles"),
    Row("TS702", "coordination.snapshot_missing", sign="done_roles"),
    Row("TS703", "coordination.drift_unresolved", sign="drifted_roles"),
    Row(
        "TS704",
        "coordination.artifact_differs",
        needs=_REPOSITORY,
        sign="artifacts",
    ),
    Row("TS705", "coordination.evidence_stale", needs=_REPOSITORY, keys=("evidence",)),
    Row("TS801", "handoffs.handoff_section", files=_HANDOFF),
    Row("TS802", "handoffs.handoff_one_action", files=_HANDOFF),
    Row("TS803", "handoffs.handoff_too_long", files=_HANDOFF),
    Row("TS804", "handoffs.handoff_reason", files=_HANDOFF),
    Row("TS805", "handoffs.handoff_reference", files=_HANDOFF, needs=_REPOSITORY),
    Row("TS806", "handoffs.handoff_thrash", files=_HANDOFF, needs=_REPOSITORY),
    Row("TS807", "handoffs.handoff_open", needs=_REPOSITORY, sign="handoffs"),
    Row("TS901", "chain.output_incomplete", sign="is_complete"),
    Row("TS902", "chain.upstream_unknown", needs=_UPSTREAM, sign="upstreams"),
    Row("TS903", "chain.input_missing", needs=_UPSTREAM, sign="dependencies"),
    Row("TS904", "chain.input_stale", needs=_UPSTREAM, sign="inputs"),
    Row("TS905", "chain.dependency_cycle", needs=_UPSTREAM, sign="dependencies"),
    Row("TS906", "chain.placeholder", sign="placeholders"),
    Row("TS951", "safety.secret", files=_ANY, sign="credentials"),
    Row("TS952", "safety.path_escapes", files=_PATHS),
    Row("TS953", "safety.invisible_text", files=_ANY, sign="hidden_text"),
    Row("TSP01", "permanent.impact_map_schema", files=_IMPACT_MAP, sign="unusual_kind"),
    Row("TSP02", "permanent.module_unknown", files=_IMPACT_MAP, sign="unusual_kind"),
    Row("TSP03", "permanent.version_missing", sign="unusual_kind"),
    Row("TSP04", "permanent.heir_missing", sign="unusual_kind"),
    Row("TSP05", "permanent.ack_above_version", keys=("acks",)),
    Row("TSP06", "permanent.permanent_second", needs=_REPOSITORY, sign="unusual_kind"),
    Row("TSP07", "permanent.version_not_raised", sign="unusual_kind"),
    Row("TSP08", "permanent.upstream_permanent", needs=_UPSTREAM, sign="dependencies"),
)


class RetiredRule(NamedTuple):
    """A rule that is no more: its code stays legal in the configuration and in directives, without any effect."""

    code: str
    name: str
    reason: str


RETIRED: tuple[RetiredRule, ...] = (
    RetiredRule(
        "TS605",
        "head-moved",
        "It warned of commits since the context was sealed, and so of a task's own work. How many files were committed "
        "since the base is told by `taskstate context show` and `taskstate context check`.",
    ),
)


def known_codes() -> frozenset[str]:
    """Return the codes that may be named: of all rules, and of those that are retired."""
    return frozenset((*(row.code for row in TABLE), *(each.code for each in RETIRED)))


def rules() -> tuple[ModuleType, ...]:
    """Return the modules of all rules."""
    return tuple(row.load() for row in TABLE)
