"""What the front matter says that cannot be so, or that other parts of the file have otherwise."""

from __future__ import annotations

from functools import cached_property

from taskstate.lint.facts.log_facts import LogFacts
from taskstate.lint.facts.moments import is_exact
from taskstate.model import derived_values, names
from taskstate.model.document_kinds import TASK
from taskstate.model.statuses import COMPLETE, DONE
from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.validation import schema

if TYPE_CHECKING:
    from taskstate.formatting.key_order import Disorder
    from taskstate.model.tool_blocks import Role
    from taskstate.syntax.nodes import Node
    from taskstate.validation.schema_files import KeyPath

_CREATED, _UPDATED = "created_at", "updated_at"
_TIMESTAMP = "x-timestamp"  # the keyword of a schema
_DEPENDS_ON = "depends_on"
_KEY, _END = "(?:taskstate|task_id):", r"---|#"  # a key of ours, and what ends the search for one
_FRONT_MATTER = (
    rf"\s*+(?P<lines>---[ \t]*+\r?\n(?:(?!{_END}|{_KEY})[^\n]*+\n)*+{_KEY}[^\n]*+\n"
    rf"(?:(?!{_END})[^\n]*+\n)*+---[ \t]*+\r?(?:\n|\Z))"
)
# Keys that only the tool writes: it always writes `taskstate` with them.
_TOOL_KEYS = (
    *("revision", "version", "sessions", "file_size_kb", "archive_path", "context", "baseline", "coordination"),
    *("delta", "evidence", "handoffs", "output", "acks", "audit", "state_revision", "verified"),
)


class Dependency(NamedTuple):
    """An id in `depends_on`, and its span."""

    id: str
    span: Span


class HeaderFacts(LogFacts):
    """The front matter of one file, compared with the rest of it."""

    @property
    def tool_key(self) -> str | None:
        """A key that only the tool writes, or None where there is none."""
        node = self.front_matter
        return next((key for key in _TOOL_KEYS if node and node.entry(key)), None)

    @cached_property
    def second_front_matter(self) -> Span | None:
        """The lines behind the front matter that are one again, with its marks; None where there are none."""
        first = self.document.front_matter.span
        match = compiled(_FRONT_MATTER).match(self.document.text, first.end) if first and self.front_matter else None
        return Span(*match.span("lines")) if match else None

    @property
    def former_revision(self) -> int:
        """The revision that the file had, if it was a higher one; else 0."""
        revisions = [each.values.get("revision") for each in (self, *(self.past or ()))]
        now, *past = [each if isinstance(each, int) else 0 for each in revisions]
        return max(past, default=0) if max(past, default=0) > now else 0

    @property
    def has_header_fault(self) -> bool:
        """Whether the front matter breaks its schema, has keys of another kind, or names one that the body is not."""
        return bool(self.front_matter_faults or self.other_kind or self.keys_of_permanent)

    @property
    def keys_of_permanent(self) -> list[str]:
        """The keys that only a permanent task has, in the file of another one."""
        is_task = self.file_type == "state" and self.kind.name == TASK
        return [key for key in ("version", "version_seal", "acks") if key in self.values] if is_task else []

    @property
    def is_complete(self) -> bool:
        """Whether the task is complete."""
        return bool(self.values.get("status") == COMPLETE)

    @property
    def has_malformed_id(self) -> bool:
        """Whether the file is by its name that of a task that cannot be."""
        return self.task_id is not None and not names.is_id(self.task_id)

    @cached_property
    def misnamed_keys(self) -> list[str]:
        """The keys, of `task_id` and `phase`, whose values are other ones than those in the file's path."""
        if self.task_id is None:
            return []
        told = {"task_id": self.task_id}
        if self.file_type == "handoff":
            told["phase"] = names.phase_in(self.name) or ""
            told["created_at"] = names.time_in(self.name)
        values = {key: self.values.get(key) for key, in_path in told.items() if in_path}
        return [key for key, value in values.items() if value is not None and _differ(str(value), told[key])]

    @cached_property
    def inexact_times(self) -> list[tuple[KeyPath, Node]]:
        """The times that are not written as the tool writes them, with the keys that lead to them."""
        name = self.front_matter_schema
        if self.front_matter is None or not schema.holds(self.typed, name, _TIMESTAMP, _is_inexact):
            return []
        times = schema.annotated(self.front_matter, name, _TIMESTAMP)
        return [(path, node) for path, node in times if node.value() is not None and not is_exact(node.text)]

    @cached_property
    def impossible_time(self) -> str:
        """The key of a time in the future, or of an update before the creation; empty where there is neither."""
        values, is_future = self.values, self.queries.is_future
        times = {key: values[key] for key in (_CREATED, _UPDATED) if is_exact(values.get(key))}
        if times and is_future(max(times.values())):
            return next(key for key in times if is_future(times[key]))
        first = min((each.time.replace(" ", "T") for each in self.sessions if each.time), default="")
        if (
            first
            and times.get(_CREATED, "")[: len(first)] > first
            and self.past
            and not self.was_there(times[_CREATED])
        ):
            return _CREATED
        return _UPDATED if _UPDATED in times and times[_UPDATED] < times.get(_CREATED, "") else ""

    @cached_property
    def wrong_counts(self) -> list[str]:
        """The keys of what is counted in the file, and recorded otherwise."""
        wrong = []
        counts, size = self.values.get(derived_values.COUNTS), self.values.get(derived_values.SIZE)
        actual = derived_values.session_counts(self.state)._asdict()
        if counts and any(counts.get(key) != count for key, count in actual.items()) and self.sessions_known:
            wrong.append(derived_values.COUNTS)
        if size is not None and size != self.state.size_kb:
            wrong.append(derived_values.SIZE)
        return wrong

    @property
    def key_disorders(self) -> tuple[Disorder, ...]:
        """The mappings whose keys are out of their order."""
        from taskstate.formatting.key_order import disorders

        return disorders(self.document) if self.front_matter else ()

    @cached_property
    def dependencies(self) -> list[Dependency]:
        """The ids in `depends_on`; none where its value breaks the schema."""
        ids = enumerate(self.values.get(_DEPENDS_ON) or ())
        return [Dependency(str(each), self.value_span(_DEPENDS_ON, index)) for index, each in ids]

    # The roles

    @property
    def unknown_roles(self) -> list[str]:
        """The names of new roles that the project does not have; an older task may have roles of then."""
        if not self.past or not self.blocks.roles:
            return []
        known = {*self.config.roles, *(name for then in self.past for name in then.blocks.roles)}
        return [name for name in self.blocks.roles if name not in known and not name.startswith("x-")]

    @property
    def done_roles(self) -> list[Role]:
        """The roles that are done."""
        return [role for role in self._roles if role.status == DONE]

    @property
    def drifted_roles(self) -> list[Role]:
        """The roles of which the working tree was found to be another than they had left."""
        return [role for role in self._roles if role.budget > 0]

    @property
    def _roles(self) -> list[Role]:
        """The roles that the file names; what begins with `x-` is other people's."""
        roles = self.blocks.roles
        return [role for name, role in roles.items() if not name.startswith("x-")]

    @property
    def roles_with_log(self) -> list[Role]:
        """The roles whose checks have left a log among the artifacts."""
        return [role for role in self.blocks.roles.values() if role.qa_log_path is not None]


def _is_inexact(value: object) -> bool:
    return value is not None and not is_exact(value)


def _differ(one: str, other: str) -> bool:
    return one.casefold() != other.casefold()
