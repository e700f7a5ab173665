"""Decides the values of a task's Static Context, from the state file, its task file and the configuration.

At the first capture the state file wins: parts that are filled in stay, and the task file fills the empty ones. A part
that `new` merely copied from the task file does not count as filled in, so a later change of the task file still
reaches it. At a rebuild the task file and the configuration win. Pure: reading standards is passed in as
`CaptureInput.cite`.
"""

from __future__ import annotations

from contextlib import suppress

from taskstate.context.capture_citations import captured_citations
from taskstate.context.capture_paths import captured_paths, left_out_notes, looks_like_paths, pattern_of
from taskstate.context.task_file import FACTS, TaskFile
from taskstate.errors import TaskstateError
from taskstate.messages import counted
from taskstate.model.config import ALL_AREAS, validation_commands
from taskstate.model.static_context import SEALED_VALUES, StaticPart
from taskstate.syntax import escaping
from taskstate.syntax.spans import size_in_bytes
from taskstate.typed import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from taskstate.context.sources import CaptureInput
    from taskstate.validation.schema_files import KeyPath


T = TypeVar("T")
MAX_VALUE_BYTES = 2048  # of one value: every reader of the task pays for it each time
OWN, FRONT_MATTER = "section 1", "front matter"
NONE = "none"
_MARK = "\u2026 see "  # before the pointer to the full text


def _words(value: str | Sequence[Any]) -> list[Any]:
    """Return the words of a text, or of each text in nested tuples: white space makes no difference."""
    return value.split() if isinstance(value, str) else [_words(each) for each in value]


class CapturedField(NamedTuple):
    """One part of the static context: a summary of what was captured for it, and its source."""

    part: str
    summary: str
    source: str


class CapturedContext(NamedTuple):
    """The captured values of the front matter and the static part, with a row for each part, and remarks.

    `kept` names the parts of the state file that stay although the task file differs.
    """

    values: Mapping[str, str]
    static: StaticPart
    rows: tuple[CapturedField, ...]
    notes: tuple[str, ...]
    kept: tuple[str, ...] = ()


def capture(inputs: CaptureInput) -> CapturedContext:
    """Return the values that are to be sealed.

    Raises:
        TaskstateError: a citation, a path or a macro is wrong.
    """
    return _Capture(inputs).captured()


class _Capture:
    """One capture; each method decides one part, and adds its row and its remarks."""

    def __init__(self, inputs: CaptureInput) -> None:
        self.inputs = inputs
        self.current = inputs.static
        self.task_file = inputs.task_file
        self.offered = inputs.task_file or TaskFile(name="", sha="")
        self.versions = inputs.task_file_versions
        self.rows: list[CapturedField] = []
        self.notes: list[str] = []
        self.kept_parts: list[str] = []
        self._length_notes: list[str] = []  # dropped again where the value is not taken

    def captured(self) -> CapturedContext:
        """Return the values of all parts."""
        values = {key: self.value(key) for key in (*SEALED_VALUES, *FACTS)}
        description = self.description()
        scope_in, scope_out = self.scope()
        criteria = self.criteria()
        citations = captured_citations(self.inputs, values)
        self.notes += citations.notes
        self.add_row("standards", counted(len(citations.citations), "citation"), citations.source)
        commands = self.commands(values["area"])
        paths = self.paths(scope_in)
        static = StaticPart(description, scope_in, scope_out, criteria, citations.citations, commands, paths)
        return CapturedContext(values, static, tuple(self.rows), tuple(self.notes), tuple(self.kept_parts))

    def value(self, key: str) -> str:
        """Return the title, priority or area, as `key` says."""
        current, offered = self.inputs.values.get(key, ""), getattr(self.offered, key)
        is_taken = self.should_take(key, current, offered, [getattr(each, key) for each in self.versions])
        result = escaping.one_line(" ".join(offered.split()), what=f"the {key}") if is_taken else current
        source = self.source(current, offered if is_taken or current == offered else "", own=FRONT_MATTER)
        if result or key not in FACTS:
            self.add_row(key, result, source)
        return result

    def description(self) -> str:
        """Return the description."""
        current, copies = self.current.description, [_written(each.description) for each in self.versions]
        offered = self.fitted("the description", _written(self.offered.description), ("description",), current)
        result, source = self.chosen("description", current, offered, copies)
        if _words(result) != _words(offered):
            self.warn_long("the description", current)
        self.add_row("description", counted(len(result.split("\n")), "line") if result else "", source)
        return result

    def scope(self) -> tuple[tuple[str, ...], ...]:
        """Return the items in scope, and those out of scope."""
        current, what = self.current, "an item of the scope"
        fitted_in = self.all_fitted(what, self.offered.scope_in, ("scope", "in"), current.scope_in)
        fitted_out = self.all_fitted(what, self.offered.scope_out, ("scope", "out"), current.scope_out)
        copies = [_scope(each.scope_in, each.scope_out) for each in self.versions]
        result, source = self.chosen(
            "scope", _scope(current.scope_in, current.scope_out), _scope(fitted_in, fitted_out), copies
        )
        self.add_row("scope", f"{len(result[0])} in, {len(result[1])} out" if result else "", source)
        return result or ((), ())

    def criteria(self) -> tuple[str, ...]:
        """Return the acceptance criteria."""
        current = self.current.criteria
        offered = self.all_fitted("a criterion", self.offered.criteria, ("acceptance_criteria",), current)
        copies = [each.criteria for each in self.versions]
        result, source = self.chosen("acceptance criteria", current, offered, copies)
        self.add_row("acceptance criteria", str(len(result)) if result else "", source)
        return result

    def commands(self, area: str) -> tuple[str, ...]:
        """Return the validation commands: the task's own, else those of its area, else those of all areas."""
        current, offered = self.current.commands, self.offered.commands
        key, configured = validation_commands(self.inputs.config, area)
        config_source = f"{self.inputs.config_name}, {'all areas' if key == ALL_AREAS else key}"
        # Commands in section 1 may have come from an older configuration. A task file would name the task's own: at a
        # rebuild with one that names none, the configuration's replace them.
        if configured and not offered and (not current or (self.inputs.rebuild and self.task_file)):
            result, source = configured, config_source
        else:
            copies = [each.commands for each in self.versions]
            result, source = self.chosen("validation", current, offered, copies, content=tuple)
        for command in result:
            self.warn_long("a validation command", command)
        self.add_row("validation", counted(len(result), "command") if result else "", source)
        return result

    def paths(self, scope_in: tuple[str, ...]) -> tuple[str, ...]:
        """Return the repository paths, sorted: macros are resolved, globs stay."""
        macros, file_scope = self.inputs.config.scope, self.offered.scope_in
        current = captured_paths(self.current.paths, macros)
        path_items = self.offered.path_items
        if not path_items and not file_scope and looks_like_paths(scope_in):
            path_items = scope_in
        offered = captured_paths(_patterns(path_items), macros)
        self.notes += () if self.offered.paths else left_out_notes(file_scope, path_items)
        copies = []
        for each in self.versions:
            with suppress(TaskstateError):  # an older task file may use a macro that no longer exists
                copies.append(captured_paths(_patterns(each.path_items), macros))
        # Without a task file the scope only fills an empty part: paths that are there may be more precise.
        if self.offered.paths or file_scope or current:
            result, source = self.chosen("repository paths", current, offered, copies, content=_patterns)
        else:
            result, source = offered, "scope"
        self.add_row("repository paths", str(len(result)) if result else "", source)
        return result

    # Shared by all parts

    def chosen(
        self, part: str, current: T, offered: T, copies: Sequence[T], *, content: Callable[[Any], object] = _words
    ) -> tuple[T, str]:
        """Return the value of a part, the present or the offered one, and its source; see `should_take`."""
        is_taken = self.should_take(part, current, offered, copies, content=content)
        is_same = content(current) == content(offered)
        return (offered if is_taken else current), self.source(current, (is_taken or is_same) and offered)

    def should_take(
        self, part: str, current: T, offered: T, copies: Sequence[T], *, content: Callable[[Any], object] = _words
    ) -> bool:
        """Return whether a part is taken from the task file; otherwise remark on it where the two differ.

        A present value with the same `content` as one of the `copies`, those of the known versions of the task file, is
        an unedited copy, which gives way to the new value.
        """
        length_notes, self._length_notes = self._length_notes, []
        if not offered or (current and content(current) == content(offered)):
            self.notes += length_notes
            return False
        is_copy = content(current) in map(content, copies)
        if current and not self.inputs.rebuild and not is_copy:
            self.kept_parts.append(part)
            self.notes.append(
                f"{part}: kept as the state file has it, although {self._file} says otherwise; "
                f"`taskstate context rebuild {self.inputs.task_id}` takes what the file says"
            )
            return False
        self.notes += length_notes
        return True

    @property
    def _file(self) -> str:
        return self.task_file.name if self.task_file else "the task file"

    def source(self, current: object, offered: object, *, own: str = OWN) -> str:
        """Return the name of the source of a part, empty where it has no value."""
        return self._file if offered else own if current else ""

    def add_row(self, part: str, summary: str, source: str) -> None:
        """Add a row to the table."""
        self.rows.append(CapturedField(part, " ".join(summary.split()) or NONE, source if summary else ""))

    # Values that are too long

    def fitted(self, what: str, text: str, path: KeyPath, text_before: str) -> str:
        """Return a value of the task file; a long one is cut with a pointer to the rest if `--shorten` was given.

        A value that was cut before is cut again, so that a rebuild without the flag gives the same text.
        """
        size = size_in_bytes(text)
        if size <= MAX_VALUE_BYTES or self.task_file is None:
            return text
        pointer = f"{self.task_file.name}#L{self.task_file.lines.get(path, 1)}"
        if self.inputs.shorten or f"{_MARK}{self.task_file.name}#L" in text_before:
            note = f"{what} is cut to {MAX_VALUE_BYTES} of its {size} bytes, and points to {pointer}"
            text = shorten(text, pointer)
        else:
            note = f"{what} holds {size} bytes, more than {MAX_VALUE_BYTES}: --shorten cuts it, and points to {pointer}"
        self._length_notes.append(note)
        return text

    def all_fitted(self, what: str, texts: tuple[str, ...], path: KeyPath, current: tuple[str, ...]) -> tuple[str, ...]:
        """Return the values of a list, each as `fitted` returns it."""
        text_before = "\n".join(current)
        return tuple(self.fitted(what, text, (*path, index), text_before) for index, text in enumerate(texts))

    def warn_long(self, what: str, text: str) -> None:
        """Remark on a long value that cannot be cut, since no file holds the full text."""
        size = size_in_bytes(text)
        if size > MAX_VALUE_BYTES:
            self.notes.append(f"{what} holds {size} bytes, more than {MAX_VALUE_BYTES}: say it in fewer words")


def shorten(text: str, place: str) -> str:
    """Return a text of at most `MAX_VALUE_BYTES` bytes: cut between words, with a pointer to the full one."""
    room = MAX_VALUE_BYTES
    while True:
        shortened = _cut(text, room, f"{_MARK}{place}")
        excess = len(shortened.encode()) - MAX_VALUE_BYTES  # what is escaped becomes longer
        if excess <= 0:
            return shortened
        room = max(room - excess, 0)


def _cut(text: str, room: int, pointer: str) -> str:
    """Return the beginning of a text with a pointer, in `room` bytes before what needs it is escaped."""
    limit = max(room - len(pointer.encode()) - len("\n```\n\n"), 0)
    beginning = text.encode()[:limit].decode("utf-8", "ignore")
    end = max(beginning.rfind(char) for char in " \n")
    beginning = (beginning[:end] if end > 0 else beginning).rstrip()
    if "\n" not in beginning:
        return f"{beginning} {pointer}"
    return f"{escaping.paragraphs(beginning, deepest=escaping.SUBSECTION_LEVEL)}\n\n{pointer}"


def _written(text: str) -> str:
    """Return a task file's description in the form in which section 1 holds it."""
    return escaping.paragraphs(text, what="the description", deepest=escaping.SUBSECTION_LEVEL) if text else ""


def _scope(inside: tuple[str, ...], outside: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the items in scope and those out of scope as one value, which is empty where both are."""
    return (inside, outside) if inside or outside else ()


def _patterns(items: Sequence[str]) -> list[str]:
    return [pattern_of(each) for each in items]
