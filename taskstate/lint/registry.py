"""Lists all rules in the order of their codes: to add a rule, add its file and one line here.

The line alone says which files the rule applies to. The rule's module is imported only for such a file, since imports
take most of the start-up time.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from taskstate.lint.queries import interface
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from types import ModuleType

    from taskstate.lint.facts.file_facts import Facts

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

_KIND = ("kind",)  # an ordinary task need not say its kind
_HISTORY, _ARCHIVE, _UPSTREAM, _REPOSITORY, _GIT = (
    frozenset({need})
    for need in (interface.HISTORY, interface.ARCHIVE, interface.UPSTREAM, interface.REPOSITORY, interface.GIT)
)


@cache
def _load(module: str) -> ModuleType:
    return import_module(f"taskstate.lint.rules.{module}")


class Row(NamedTuple):
    """A rule whose module is not loaded yet: its code, its module, and the files that it applies to.

    `files` are the types of own files that it checks. `needs` names the kinds of queries (see `queries.interface`)
    without which it cannot run. `keys` are keys of the front matter: in a file with none of them it finds nothing.
    A rule that is `about_changes` finds nothing in a file that is the same at the compared revision, as most are.
    """

    code: str
    module: str
    files: frozenset[str] = _STATE
    needs: frozenset[str] = frozenset()
    keys: tuple[str, ...] = ()
    about_changes: bool = False

    @property
    def name(self) -> str:
        """The rule's name, which is that of its module."""
        return self.module.rpartition(".")[2].replace("_", "-")

    def load(self) -> ModuleType:
        """Return the rule's module, with its `RULE` and its `check`."""
        return _load(self.module)

    def applies_to(self, facts: Facts) -> bool:
        """Return whether a rule may find something: a file has a key that it is about, and has changed.

        JSON has no front matter to judge by.
        """
        if self.about_changes and facts.unchanged:
            return False
        return not self.keys or facts.is_json or any(key in facts.document.front_matter for key in self.keys)


TABLE: tuple[Row, ...] = (
    Row("TS001", "file.not_utf8", files=_ANY),
    Row("TS002", "file.front_matter_missing", files=_FRONT),
    Row("TS003", "file.front_matter_yaml", files=_FRONT),
    Row("TS004", "file.fence_unclosed", files=_MARKDOWN),
    Row("TS005", "file.json_invalid", files=_JSON),
    Row("TS006", "file.control_characters", files=_ANY),
    Row("TS007", "file.merge_conflict", files=_ANY),
    Row("TS008", "file.file_name", files=_FRONT),
    Row("TS009", "file.unsupported_version", files=_FRONT),
    Row("TS010", "file.unused_ignore", files=_MARKDOWN),
    Row("TS011", "file.duplicate_id", needs=_REPOSITORY),
    Row("TS012", "file.state_removed", files=_REMOVED, needs=_HISTORY),
    Row("TS101", "front_matter.front_matter_schema", files=_FRONT),
    Row("TS102", "front_matter.unknown_key", files=_FRONT),
    Row("TS103", "front_matter.timestamp_format", files=_FRONT),
    Row("TS104", "front_matter.timestamps_order"),
    Row("TS105", "front_matter.counts_differ"),
    Row("TS106", "front_matter.key_order"),
    Row("TS107", "front_matter.status_transition", needs=_HISTORY, about_changes=True),
    Row("TS201", "sections.section_missing"),
    Row("TS202", "sections.section_order"),
    Row("TS203", "sections.section_duplicate"),
    Row("TS204", "sections.section_unknown"),
    Row("TS205", "sections.heading_style"),
    Row("TS206", "sections.title_mismatch"),
    Row("TS207", "sections.hidden_section"),
    Row("TS208", "sections.subsection_missing"),
    Row("TS209", "sections.section_renamed"),
    Row("TS301", "checklist.checklist_schema"),
    Row("TS302", "checklist.feature_id_duplicate"),
    Row("TS303", "checklist.passes_without_proof"),
    Row("TS304", "checklist.progress_differs"),
    Row("TS305", "checklist.feature_rewritten", needs=_HISTORY, about_changes=True),
    Row("TS306", "checklist.phase_schema"),
    Row("TS307", "checklist.objective_rewritten", files=_STATE | _PROGRESS, needs=_HISTORY, about_changes=True),
    Row("TS308", "checklist.feature_unpassed", needs=_HISTORY, about_changes=True),
    Row("TS309", "checklist.progress_file", files=_PROGRESS),
    Row("TS310", "checklist.criterion_malformed"),
    Row("TS311", "checklist.proof_missing"),
    Row("TS401", "sessions.session_heading"),
    Row("TS402", "sessions.session_number"),
    Row("TS403", "sessions.session_time"),
    Row("TS404", "sessions.session_field_missing"),
    Row("TS405", "sessions.session_rewritten", needs=_HISTORY, about_changes=True),
    Row("TS406", "sessions.no_next_step"),
    Row("TS407", "sessions.archive_mismatch", files=_SESSIONS, needs=_ARCHIVE),
    Row("TS408", "sessions.no_session_recorded", needs=_HISTORY),
    Row("TS410", "sessions.commit_unknown", needs=_GIT),
    Row("TS411", "sessions.session_misplaced"),
    Row("TS412", "sessions.session_in_future"),
    Row("TS501", "size.size_warning"),
    Row("TS502", "size.size_limit"),
    Row("TS503", "size.too_many_sessions"),
    Row("TS504", "size.long_value"),
    Row("TS505", "size.too_large_to_archive"),
    Row("TS601", "context.static_part_changed", keys=("context",)),
    Row("TS602", "context.citation_stale", needs=_REPOSITORY),
    Row("TS603", "context.citation_form"),
    Row("TS604", "context.task_file_changed", needs=_REPOSITORY, keys=("context",)),
    Row("TS606", "front_matter.tool_block_edited", keys=("audit",)),
    Row("TS607", "front_matter.seal_removed", needs=_HISTORY, about_changes=True),
    Row("TS701", "coordination.coordination_order", keys=("coordination",)),
    Row("TS702", "coordination.snapshot_missing", keys=("coordination",)),
    Row("TS703", "coordination.drift_unresolved", keys=("coordination",)),
    Row("TS704", "coordination.artifact_differs", needs=_REPOSITORY, keys=("baseline", "coordination", "delta")),
    Row("TS705", "coordination.evidence_stale", needs=_REPOSITORY, keys=("evidence",)),
    Row("TS801", "handoffs.handoff_section", files=_HANDOFF),
    Row("TS802", "handoffs.handoff_one_action", files=_HANDOFF),
    Row("TS803", "handoffs.handoff_too_long", files=_HANDOFF),
    Row("TS804", "handoffs.handoff_reason", files=_HANDOFF),
    Row("TS805", "handoffs.handoff_reference", files=_HANDOFF, needs=_REPOSITORY),
    Row("TS806", "handoffs.handoff_thrash", files=_HANDOFF, needs=_REPOSITORY),
    Row("TS807", "handoffs.handoff_open", needs=_REPOSITORY),
    Row("TS901", "chain.output_incomplete"),
    Row("TS902", "chain.upstream_unknown", needs=_UPSTREAM),
    Row("TS903", "chain.input_missing", needs=_UPSTREAM),
    Row("TS904", "chain.input_stale", needs=_UPSTREAM),
    Row("TS905", "chain.dependency_cycle", needs=_UPSTREAM),
    Row("TS906", "chain.placeholder"),
    Row("TS951", "safety.secret", files=_ANY),
    Row("TS952", "safety.path_escapes", files=_PATHS),
    Row("TS953", "safety.invisible_text", files=_ANY),
    Row("TSP01", "permanent.impact_map_schema", files=_IMPACT_MAP, keys=_KIND),
    Row("TSP02", "permanent.module_unknown", files=_IMPACT_MAP, keys=_KIND),
    Row("TSP03", "permanent.version_missing", keys=_KIND),
    Row("TSP04", "permanent.heir_missing", keys=_KIND),
    Row("TSP05", "permanent.ack_above_version", keys=("acks",)),
    Row("TSP06", "permanent.permanent_second", needs=_REPOSITORY, keys=_KIND),
    Row("TSP07", "permanent.version_not_raised", keys=_KIND),
    Row("TSP08", "permanent.upstream_permanent", needs=_UPSTREAM, keys=("depends_on",)),
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
