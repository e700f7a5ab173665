"""The signs of faults: what `registry` looks for in a file before it loads a rule.

A sign is cheap, and shared where several rules are about the same. Without its sign a rule finds nothing; with it there
may be a finding, and the rule has the last word. A healthy file has next to none of them, and importing the rules would
take longer than checking it. `tests/lint/test_signs.py` holds the law on all cases.
"""

from __future__ import annotations

import re
from functools import cached_property

from taskstate import FORMAT
from taskstate.lint.facts import lengths
from taskstate.lint.facts.moments import is_exact, moment_of
from taskstate.model import derived_values, names
from taskstate.model.document_kinds import PERMANENT
from taskstate.model.progress_log import filled_labels
from taskstate.model.statuses import COMPLETE, DONE, DROPPED, IN_PROGRESS
from taskstate.model.task_state import PART_LEVEL, SECTION_LEVEL, is_json_fence
from taskstate.syntax import invisible
from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import CONTROLS
from taskstate.typed import TYPE_CHECKING
from taskstate.validation import schema, secrets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.model.document_kinds import SectionSpec
    from taskstate.syntax.document import Section

REQUIRED = ("What I did", "Issues encountered", "Current state", "Next steps")  # fields of a session
_TIMES = ("created_at", "updated_at")
_LABELS = {label.lower() for label in REQUIRED}
# What begins the words for no next step, and the marks that stand for some.
_NOTHING = {"none", "nothing", "nil", "no", "not", "na", "n/a", "tba", "tbc", "tbd", "unknown"}
_MARKS = "-?.\u2013\u2014\u2026"
_PULLED = "taskstate: input"  # in the comment above each Chain Input that was pulled
_NON_BLANK = r"\S"
_PRINTABLE = bytes((*b"\t\n\r", *range(0x20, 0x7F)))  # what is no control character in ASCII


class Signs:
    """The signs of faults in one file, each looked for when the first rule that is about it is to be loaded."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.document = facts.document

    @property
    def never(self) -> bool:
        """What only the engine can know: it reports this itself."""
        return False

    # The text as a whole

    @property
    def controls(self) -> bool:
        """Whether there is a control character."""
        text = self.document.text
        if text.isascii():
            return bool(text.encode().translate(None, _PRINTABLE))
        return re.compile(CONTROLS).search(text) is not None

    @property
    def hidden_text(self) -> bool:
        """Whether there are invisible characters that nothing beside them needs."""
        return next(invisible.find(self.document.text), None) is not None

    @property
    def credentials(self) -> bool:
        """Whether anything looks like a credential."""
        return bool(secrets.find(self.document.text, self.facts.config.secrets.allow))

    @property
    def same_id(self) -> bool:
        """Whether another state file of the repository has the same id."""
        return bool(self.facts.queries.same_id())

    # The front matter

    @property
    def front_matter_faults(self) -> bool:
        """Whether a part of the file cannot be read, or a value of the front matter was read as a comment."""
        return bool(self.document.problems or self.facts.commented_values)

    @property
    def misnamed(self) -> bool:
        """Whether the file's name is no name of a task, or the front matter says another id or phase."""
        task_id = self.facts.task_id
        if task_id is None or self.facts.file_type == "handoff":
            return task_id is not None
        told = self.facts.values.get("task_id", task_id)
        return not names.is_id(task_id) or str(told).casefold() != task_id.casefold()

    @property
    def unusual_version(self) -> bool:
        """Whether the file is of another version of the format, or does not say of which."""
        return self.facts.front_matter is not None and self.facts.version != FORMAT

    @property
    def inexact_times(self) -> bool:
        """Whether a time of the front matter is not written as the tool writes it."""
        name = self.facts.front_matter_schema
        return schema.holds(
            self.facts.typed, name, "x-timestamp", lambda value: value is not None and not is_exact(value)
        )

    @property
    def disordered_times(self) -> bool:
        """Whether the file was updated before it was created, or in the future."""
        times = [value for value in map(self.facts.values.get, _TIMES) if isinstance(value, str)]
        return bool(times) and (times != sorted(times) or bool(self.facts.queries.is_future(max(times))))

    @property
    def wrong_counts(self) -> bool:
        """Whether a count that the front matter records is not that of the file."""
        values, state = self.facts.values, self.facts.state
        recorded = values.get(derived_values.COUNTS)
        actual = derived_values.session_counts(state)._asdict()
        if recorded is not None and any(recorded.get(key) != count for key, count in actual.items()):
            return True
        return bool(values.get(derived_values.SIZE, state.size_kb) != state.size_kb)

    @property
    def disordered_keys(self) -> bool:
        """Whether keys of the front matter are out of their order."""
        from taskstate.formatting.key_order import disorders

        return self.facts.front_matter is not None and bool(disorders(self.document))

    @property
    def done_roles(self) -> bool:
        """Whether a role is done."""
        return any(role.get("status") == DONE for role in self._roles)

    @property
    def drifted_roles(self) -> bool:
        """Whether the working tree was found to be another than a role had left."""
        return any(role.get("drift_budget") or 0 for role in self._roles)

    @property
    def _roles(self) -> Iterator[Mapping[str, Any]]:
        coordination = self.facts.values.get("coordination") or {}
        return (role for role in coordination.values() if isinstance(role, dict))

    @property
    def artifacts(self) -> bool:
        """Whether the front matter names an artifact."""
        blocks = self.facts.blocks
        logs = (blocks.baseline.log, *(role.qa_log_path for role in blocks.roles.values()))
        return bool(blocks.delta.snapshots) or any(log is not None for log in logs)

    @property
    def handoffs(self) -> bool:
        """Whether the file names an open handoff, or the task has documents of handoffs."""
        if self.facts.front_matter is None:
            return False
        return bool(self.facts.blocks.handoffs.open or self.facts.queries.handoffs())

    @property
    def is_complete(self) -> bool:
        """Whether the task is complete."""
        return self.facts.values.get("status") == COMPLETE

    # The sections

    @property
    def incomplete(self) -> bool:
        """Whether a section or subsection is missing or empty."""
        return bool(self.facts.outline.absent or self.facts.outline.unfilled)

    @property
    def unusual_headings(self) -> bool:
        """Whether a known heading is not in its canonical form."""
        from taskstate.formatting.parts import body_parts

        text = self.document.text
        parts = body_parts(self.document, self.facts.kind)
        return any(each.heading and each.section.heading.of(text) != each.heading for each in parts)

    @property
    def unusual_title(self) -> bool:
        """Whether there is anything but the one title line that the front matter and the kind ask for, at the top."""
        task_id, title = self.facts.values.get("task_id"), self.facts.values.get("title")
        if task_id is None or title is None:
            return False
        expected = self.facts.kind.title_line(task_id=str(task_id), title=str(title)).removeprefix("# ")
        titles = [section for section in self.document.sections if section.level < SECTION_LEVEL]
        is_first = len(titles) == 1 and titles[0] is self.document.sections[0]
        return not is_first or titles[0].title.split() != expected.split()

    @property
    def placeholders(self) -> bool:
        """Whether a part that must be written by now begins in emphasis or in parentheses, as what stands for one."""
        status = self.facts.values.get("status")
        for spec, section in self.facts.outline.present:
            in_parts = [part.must_be_filled for part in spec.subsections]
            in_parts += [spec.some_filled.statuses] if spec.some_filled else []
            parts = self.document.children(section, PART_LEVEL) if any(status in each for each in in_parts) else ()
            if any(map(self._may_be_placeholder, parts)):
                return True
            if status in spec.must_be_filled and self._may_be_placeholder(section):
                return True
        return False

    def _may_be_placeholder(self, section: Section) -> bool:
        text = self.document.text
        first = compiled(_NON_BLANK).search(text, section.body.start)
        at = first.start() if first else len(text)
        mark, following = text[at : at + 1], text[at + 1 : at + 2]
        is_marked = mark == "(" or (mark in {"*", "_"} and following != mark)
        return is_marked or text.startswith(self.facts.kind.placeholder, at)

    @property
    def citations(self) -> bool:
        """Whether there is a list of citations."""
        return any(name == "citations" for name, _ in self.facts.outline.fences)

    @property
    def inputs(self) -> bool:
        """Whether the output of another task was pulled."""
        return _PULLED in self.document.text

    @property
    def unusual_kind(self) -> bool:
        """Whether the file says its kind, or is one of a permanent task; JSON has no front matter to say it."""
        facts = self.facts
        return facts.is_json or "kind" in self.document.front_matter or facts.kind.name == PERMANENT

    @property
    def dependencies(self) -> bool:
        """Whether the task depends on others."""
        return bool(self.facts.values.get("depends_on"))

    @property
    def upstreams(self) -> bool:
        """Whether the file names other tasks: those that it depends on, or among its Chain Inputs."""
        if self.dependencies or self.inputs:
            return True
        section = self.facts.state.section("Chain Inputs")
        return section is not None and bool(self.document.children(section, PART_LEVEL))

    @property
    def archive(self) -> bool:
        """Whether this is an archive, or a state file that has one or says so."""
        facts = self.facts
        is_named = facts.file_type == "archive" or facts.summary is not None or bool(facts.values.get("archive_path"))
        return is_named or bool(facts.queries.archive())

    @property
    def malformed_criteria(self) -> bool:
        """Whether anything looks like an acceptance criterion and is read as none."""
        from taskstate.model.malformed_criteria import malformed_criteria

        return bool(malformed_criteria(self.facts.state))

    # The checklist

    @property
    def checklist_faults(self) -> bool:
        """Whether the Feature Checklist has not exactly one json fence, or its value breaks the schema."""
        value = self.facts.checklist_value
        if value is not None and (value.faults or value.has_wrong_time):
            return True
        sections = (placed.section for placed in self.facts.outline.present if _holds_checklist(placed.spec))
        fences = (self.document.blocks_in(section.own, "fence") for section in sections)
        return any(len([each for each in found if is_json_fence(each)]) != 1 for found in fences)

    @cached_property
    def _features(self) -> tuple[Mapping[str, Any], ...]:
        """The features of the checklist as plain values."""
        value = self.facts.checklist_value.value if self.facts.checklist_value else None
        features = value.get("features") if isinstance(value, dict) else None
        return tuple(each for each in features if isinstance(each, dict)) if isinstance(features, list) else ()

    @property
    def repeated_features(self) -> bool:
        """Whether two features have one id."""
        ids = [each["id"] for each in self._features if isinstance(each.get("id"), str)]
        return len(set(ids)) < len(ids)

    @cached_property
    def _passing(self) -> tuple[Mapping[str, Any], ...]:
        return tuple(each for each in self._features if each.get("passes") is True)

    @property
    def untested_features(self) -> bool:
        """Whether a feature passes that was never tested."""
        return any(each.get("tested_at") is None for each in self._passing)

    @property
    def doubtful_proofs(self) -> bool:
        """Whether a feature passes whose evidence has to be looked at."""
        facts = self.facts
        if facts.config.lint.require_command_evidence:
            return bool(self._passing)
        if (facts.past and not facts.changed) or facts.values.get("status") in {COMPLETE, DROPPED}:
            return False
        return bool(self._passing) if facts.past is not None else any(map(_names_log, self._passing))

    @property
    def wrong_progress(self) -> bool:
        """Whether the percentage is not that of the features."""
        checklist = self.facts.checklist
        return checklist is not None and checklist.progress != derived_values.overall_progress(checklist)

    # The sessions, and the size

    @property
    def odd_session_headings(self) -> bool:
        """Whether a heading of the Progress Log is none of its own, or a line is meant as one."""
        return bool(self.facts.strays or self.facts.outline.session_lines)

    @property
    def odd_numbers(self) -> bool:
        """Whether the numbers of the sessions do not go on one by one from those in the archive."""
        first = self.facts.summary.last + 1 if self.facts.summary else 1
        return [session.number for session in self.facts.sessions] != list(
            range(first, first + len(self.facts.sessions))
        )

    @property
    def odd_session_times(self) -> bool:
        """Whether a session does not say when it was, or goes back in time."""
        times = [moment_of(session.time) or "" for session in self.facts.sessions]
        return "" in times or times != sorted(times)

    @property
    def in_future(self) -> bool:
        """Whether a session, or the test of a feature, may be in the future."""
        times = [f"{session.time.replace(' ', 'T')}:00Z" for session in self.facts.sessions if session.time]
        times += [each["tested_at"] for each in self._features if isinstance(each.get("tested_at"), str)]
        return bool(times) and bool(self.facts.queries.is_future(max(times)))

    @property
    def unfinished_sessions(self) -> bool:
        """Whether a session lacks a required field, or says nothing in one."""
        return not all(filled_labels(self.document, each.section) >= _LABELS for each in self.facts.sessions)

    @property
    def no_next_step(self) -> bool:
        """Whether the newest session of a task in progress begins its next steps with a word for nothing."""
        sessions = self.facts.sessions if self.facts.values.get("status") == IN_PROGRESS else ()
        if not sessions:
            return False
        first = next(iter(sessions[-1].next), "")
        begin = next((at for at, char in enumerate(first) if not (char.isspace() or char in "*_`(")), len(first))
        word = next(iter(first[begin:].split(maxsplit=1)), "").rstrip("*_`).!").lower()
        return word in _NOTHING or not word.strip(_MARKS)

    @property
    def work_changed(self) -> bool:
        """Whether a task in progress, or any file of the repository, is another than at the compared revision."""
        facts = self.facts
        if facts.values.get("status") != IN_PROGRESS or not facts.past:
            return False
        return facts.changed or bool(facts.queries.changed_paths())

    @property
    def many_sessions(self) -> bool:
        """Whether the task has taken more sessions than one should."""
        return derived_values.session_counts(self.facts.state).total > self.facts.config.size.max_sessions

    @property
    def too_large(self) -> bool:
        """Whether the file is larger than the configuration wishes."""
        size, limits = self.facts.state.size, self.facts.config.size
        is_over = derived_values.is_over_limit(size, limits)
        return is_over or bool(derived_values.exceeded(size, kb=limits.warn_kb, tokens=limits.warn_tokens))

    @property
    def long_values(self) -> bool:
        """Whether a session, or a value of the front matter or of JSON, may be longer than it should be."""
        facts = self.facts
        json = [facts.checklist_value, *(phase.value for phase in facts.phases)]
        nodes = [entry.value for entry in facts.front_matter.entries] if facts.front_matter else []
        nodes += [value.root for value in json if value]
        is_long = any(lengths.may_be_long(self.document, node) for node in nodes)
        return is_long or any(lengths.length_of(session) > lengths.SESSION for session in facts.sessions)


def _holds_checklist(spec: SectionSpec) -> bool:
    return spec.fence is not None and spec.fence.schema == "checklist"


def _names_log(feature: Mapping[str, Any]) -> bool:
    evidence = feature.get("evidence")
    return isinstance(evidence, dict) and isinstance(evidence.get("log_sha256"), str)
