"""Lists all rules in the order of their codes: to add a rule, add its file and one line here.

The line alone says which files the rule applies to, and which facts it looks at. The rule's module is imported only for
a file that has something there: a healthy file needs hardly any, and imports take most of the start-up time.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from taskstate.lint.diagnostics import name_of_module
from taskstate.lint.queries import interface
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.model.names import FileType

_STATE: frozenset[FileType] = frozenset({"state"})
_FRONT: frozenset[FileType] = frozenset({"state", "handoff"})  # files with front matter
_MARKDOWN: frozenset[FileType] = frozenset({"state", "handoff", "archive"})
_ARCHIVES: frozenset[FileType] = frozenset({"archive"})
_SESSIONS: frozenset[FileType] = frozenset({"state", "archive"})
_JSON: frozenset[FileType] = frozenset({"state", "impact-map", "progress"})
_PATHS: frozenset[FileType] = frozenset({"state", "handoff", "impact-map"})
_NAMED: frozenset[FileType] = frozenset({"state", "handoff", "near"})
_HANDOFF: frozenset[FileType] = frozenset({"handoff"})
_PROGRESS: frozenset[FileType] = frozenset({"progress"})
_ANY = _MARKDOWN | _JSON
_REMOVED: frozenset[FileType] = frozenset({"removed"})
_IMPACT_MAP: frozenset[FileType] = frozenset({"state", "impact-map"})

_HISTORY, _ARCHIVE, _UPSTREAM, _REPOSITORY, _GIT = (
    frozenset({need})
    for need in (interface.HISTORY, interface.ARCHIVE, interface.UPSTREAM, interface.REPOSITORY, interface.GIT)
)


@cache
def _load(module: str) -> ModuleType:
    return import_module(f"taskstate.lint.rules.{module}")


def _everything(facts: Facts) -> object:
    return facts.document


def _nothing(_facts: Facts) -> object:  # the engine itself reports these
    return None


class Row(NamedTuple):
    """A rule whose module is not loaded yet: its code, its module, and the files that it applies to.

    `looks_at` returns the facts that its `check` begins with: where they are empty, there is nothing to find, and the
    module is not loaded. `files` are the types of own files that it checks. `needs` names the kinds of queries (see
    `queries.interface`) without which it cannot run.
    """

    code: str
    module: str
    looks_at: Callable[[Facts], object]
    files: frozenset[FileType] = _STATE
    needs: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The rule's name, which is that of its module."""
        return name_of_module(self.module)

    def load(self) -> ModuleType:
        """Return the rule's module, with its `RULE` and its `check`."""
        return _load(self.module)


TABLE: tuple[Row, ...] = (
    Row("TS001", "file.not_utf8", _nothing, files=_ANY),
    Row("TS002", "file.front_matter_missing", lambda facts: facts.overrun or facts.front_matter_problems, files=_FRONT),
    Row(
        "TS003",
        "file.front_matter_yaml",
        lambda facts: facts.front_matter_problems or facts.commented_values or facts.second_front_matter,
        files=_FRONT,
    ),
    Row("TS004", "file.fence_unclosed", lambda facts: facts.document.problems, files=_MARKDOWN),
    Row("TS005", "file.json_invalid", lambda facts: facts.json_faults, files=_JSON),
    Row("TS006", "file.control_characters", lambda facts: facts.controls or facts.has_lone_returns, files=_ANY),
    Row("TS007", "file.merge_conflict", lambda facts: facts.conflicts, files=_ANY),
    Row(
        "TS008", "file.file_name", lambda facts: facts.has_malformed_id or facts.misnamed_keys, files=_FRONT | {"near"}
    ),
    Row("TS009", "file.unsupported_version", lambda facts: facts.version is None or facts.newer, files=_FRONT),
    Row("TS010", "file.unused_ignore", _nothing, files=_MARKDOWN),
    Row("TS011", "file.duplicate_id", lambda facts: facts.queries.same_id(), needs=_REPOSITORY),
    Row("TS012", "file.state_removed", _everything, files=_REMOVED, needs=_HISTORY),
    Row("TS101", "front_matter.front_matter_schema", lambda facts: facts.has_header_fault, files=_FRONT),
    Row("TS102", "front_matter.unknown_key", lambda facts: facts.front_matter_faults, files=_FRONT),
    Row("TS103", "front_matter.timestamp_format", lambda facts: facts.inexact_times, files=_FRONT),
    Row("TS104", "front_matter.timestamps_order", lambda facts: facts.impossible_time),
    Row("TS105", "front_matter.counts_differ", lambda facts: facts.wrong_counts),
    Row("TS106", "front_matter.key_order", lambda facts: facts.key_disorders or len(facts.dependencies) > 1),
    Row("TS107", "front_matter.status_transition", lambda facts: facts.changed, needs=_HISTORY),
    Row("TS108", "front_matter.revision_fell", lambda facts: facts.former_revision, needs=_HISTORY),
    Row("TS201", "sections.section_missing", lambda facts: facts.outline.absent),
    Row("TS202", "sections.section_order", lambda facts: facts.outline.displaced),
    Row("TS203", "sections.section_duplicate", lambda facts: facts.outline.repeated or facts.repeated_parts),
    Row("TS204", "sections.section_unknown", lambda facts: facts.outline.undeclared),
    Row(
        "TS205",
        "sections.heading_style",
        lambda facts: facts.unusual_headings or facts.loosely_headed or facts.unmarked,
    ),
    Row("TS206", "sections.title_mismatch", lambda facts: facts.wrong_titles),
    Row("TS207", "sections.hidden_section", lambda facts: facts.outline.hidden or facts.outline.unfilled),
    Row("TS208", "sections.subsection_missing", lambda facts: facts.outline.unfilled),
    Row("TS209", "sections.section_renamed", lambda facts: facts.outline.absent),
    Row("TS210", "sections.link_dead", lambda facts: facts.changed and "](" in facts.document.text, needs=_HISTORY),
    Row("TS301", "checklist.checklist_schema", lambda facts: facts.misfenced_checklists or facts.has_checklist_fault),
    Row("TS302", "checklist.feature_id_duplicate", lambda facts: facts.repeated_features),
    Row("TS303", "checklist.passes_without_proof", lambda facts: facts.untested_features),
    Row("TS304", "checklist.progress_differs", lambda facts: facts.other_progress),
    Row("TS305", "checklist.feature_rewritten", lambda facts: facts.changed, needs=_HISTORY),
    Row("TS306", "checklist.phase_schema", lambda facts: facts.phases),
    Row(
        "TS307", "checklist.objective_rewritten", lambda facts: facts.changed, files=_STATE | _PROGRESS, needs=_HISTORY
    ),
    Row("TS308", "checklist.feature_unpassed", lambda facts: facts.changed, needs=_HISTORY),
    Row("TS309", "checklist.progress_file", _everything, files=_PROGRESS),
    Row("TS310", "checklist.criterion_malformed", lambda facts: facts.malformed_criteria),
    Row("TS311", "checklist.proof_missing", lambda facts: facts.doubtful_features),
    Row("TS312", "checklist.criterion_rewritten", lambda facts: facts.lost_criteria, needs=_HISTORY),
    Row("TS401", "sessions.session_heading", lambda facts: facts.strays or facts.session_lines or facts.headless),
    Row("TS402", "sessions.session_number", lambda facts: facts.is_out_of_sequence),
    Row("TS403", "sessions.session_time", lambda facts: facts.odd_sessions or facts.falling_sessions),
    Row("TS404", "sessions.session_field_missing", lambda facts: facts.unfinished_sessions),
    Row("TS405", "sessions.session_rewritten", lambda facts: facts.changed, needs=_HISTORY),
    Row("TS406", "sessions.no_next_step", lambda facts: facts.idle_session),
    Row("TS407", "sessions.archive_mismatch", lambda facts: facts.has_archive, files=_SESSIONS, needs=_ARCHIVE),
    Row("TS408", "sessions.no_session_recorded", lambda facts: facts.may_lack_session, needs=_HISTORY),
    Row("TS410", "sessions.commit_unknown", _everything, needs=_GIT),
    Row("TS411", "sessions.session_misplaced", lambda facts: facts.outline.misplaced),
    Row("TS412", "sessions.session_in_future", lambda facts: facts.future_sessions or facts.future_features),
    Row("TS413", "sessions.archive_foreign_text", _everything, files=_ARCHIVES),
    Row("TS414", "sessions.session_of_created", lambda facts: facts.is_begun_unsaid),
    Row("TS501", "size.size_warning", lambda facts: facts.over_warning),
    Row("TS502", "size.size_limit", lambda facts: facts.over_limit),
    Row("TS503", "size.too_many_sessions", lambda facts: facts.too_many_sessions),
    Row("TS504", "size.long_value", lambda facts: facts.long_values or facts.long_sessions or facts.long_summary),
    Row("TS505", "size.too_large_to_archive", lambda facts: facts.over_limit),
    Row("TS601", "context.static_part_changed", lambda facts: facts.blocks.context.seal),
    Row("TS602", "context.citation_stale", lambda facts: facts.citations, needs=_REPOSITORY),
    Row("TS603", "context.citation_form", lambda facts: facts.citations),
    Row("TS604", "context.task_file_changed", lambda facts: facts.blocks.context.task_file_sha, needs=_REPOSITORY),
    Row("TS606", "front_matter.tool_block_edited", lambda facts: facts.blocks.edited),
    Row("TS607", "front_matter.seal_removed", lambda facts: facts.changed, needs=_HISTORY),
    Row("TS608", "context.validation_form", lambda facts: facts.validation),
    Row("TS701", "coordination.coordination_order", lambda facts: facts.done_roles or facts.unknown_roles),
    Row("TS702", "coordination.snapshot_missing", lambda facts: facts.done_roles),
    Row("TS703", "coordination.drift_unresolved", lambda facts: facts.drifted_roles),
    Row(
        "TS704",
        "coordination.artifact_differs",
        lambda facts: facts.blocks.baseline.log or facts.roles_with_log or facts.blocks.delta.snapshots,
        needs=_REPOSITORY,
    ),
    Row("TS705", "coordination.evidence_stale", lambda facts: facts.blocks.evidence, needs=_REPOSITORY),
    Row("TS801", "handoffs.handoff_section", _everything, files=_HANDOFF),
    Row("TS802", "handoffs.handoff_one_action", _everything, files=_HANDOFF),
    Row("TS803", "handoffs.handoff_too_long", _everything, files=_HANDOFF),
    Row("TS804", "handoffs.handoff_reason", _everything, files=_HANDOFF),
    Row("TS805", "handoffs.handoff_reference", _everything, files=_HANDOFF, needs=_REPOSITORY),
    Row("TS806", "handoffs.handoff_thrash", _everything, files=_HANDOFF, needs=_REPOSITORY),
    Row(
        "TS807",
        "handoffs.handoff_open",
        lambda facts: facts.file_type == "handoff" or facts.blocks.handoffs.open or facts.queries.handoffs(),
        needs=_REPOSITORY,
        files=_FRONT,
    ),
    Row("TS808", "handoffs.handoff_rewritten", _everything, files=_HANDOFF),
    Row("TS901", "chain.output_incomplete", lambda facts: facts.is_complete),
    Row(
        "TS902",
        "chain.upstream_unknown",
        lambda facts: facts.dependencies or facts.chain_inputs or facts.input_headings or facts.moved_features,
        needs=_UPSTREAM,
    ),
    Row("TS903", "chain.input_missing", lambda facts: facts.dependencies or facts.input_headings, needs=_UPSTREAM),
    Row("TS904", "chain.input_stale", lambda facts: facts.chain_inputs, needs=_UPSTREAM),
    Row("TS905", "chain.dependency_cycle", lambda facts: facts.dependencies, needs=_UPSTREAM),
    Row("TS906", "chain.placeholder", lambda facts: facts.unwritten_sections),
    Row("TS907", "chain.output_edited", lambda facts: facts.is_complete),
    Row("TS951", "safety.secret", lambda facts: facts.credentials, files=_ANY),
    Row("TS952", "safety.path_escapes", lambda facts: facts.escaping_paths, files=_PATHS),
    Row("TS953", "safety.invisible_text", lambda facts: facts.invisible, files=_ANY),
    Row(
        "TSP01",
        "permanent.impact_map_schema",
        lambda facts: facts.impact_map or facts.is_permanent,
        files=_IMPACT_MAP,
    ),
    Row("TSP02", "permanent.module_unknown", lambda facts: facts.impact_map, files=_IMPACT_MAP),
    Row("TSP03", "permanent.version_missing", lambda facts: facts.is_permanent),
    Row("TSP04", "permanent.heir_missing", lambda facts: facts.is_permanent),
    Row("TSP05", "permanent.ack_above_version", lambda facts: facts.is_permanent),
    Row("TSP06", "permanent.permanent_second", lambda facts: facts.is_permanent, needs=_REPOSITORY),
    Row(
        "TSP07",
        "permanent.version_not_raised",
        lambda facts: facts.is_permanent or facts.file_type == "impact-map",
        files=_IMPACT_MAP,
    ),
    Row("TSP08", "permanent.upstream_permanent", lambda facts: facts.dependencies, needs=_UPSTREAM),
    Row("TSP09", "permanent.decision_form", lambda facts: facts.is_permanent),
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
