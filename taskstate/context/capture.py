"""Decides what the static part of a task becomes, from the state file, its task file and the configuration.

At the first capture the state file is the truth: what a part already says is kept, and what the task file gives fills
the rest. What `new` only copied from the task file is no word of the state file's own, so there the task file goes on
to count. When it is captured anew, what was captured from decides. Pure; who reads standards hands over how to cite.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from taskstate.context.capture_citations import captured_citations
from taskstate.context.capture_paths import captured_paths, left_out_notes, looks_like_paths, paths_among, pattern_of
from taskstate.errors import TaskstateError
from taskstate.model.static_context import SEALED_VALUES, StaticPart
from taskstate.syntax import escaping
from taskstate.syntax.spans import size_in_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.context.sources import CaptureInput
    from taskstate.context.task_file import TaskFile
    from taskstate.validation.schema_files import KeyPath


MAX_VALUE_BYTES = 2048  # of a value; a longer one costs whoever reads the task each time
OWN, FRONT_MATTER = "section 1", "front matter"
NONE = "none"
ALL_AREAS = "*"
_MARK = "\u2026 see "  # before the place of what was left out


class CapturedField(NamedTuple):
    """What was captured of one part, in words, and where it came from."""

    part: str
    what: str
    source: str


class CapturedContext(NamedTuple):
    """What title, priority and area, and the static part, become; where each part came from, and what to tell.

    `kept` are the parts that stay although the task file says otherwise.
    """

    values: Mapping[str, str]
    static: StaticPart
    rows: tuple[CapturedField, ...]
    notes: tuple[str, ...]
    kept: tuple[str, ...] = ()


def capture(known: CaptureInput) -> CapturedContext:
    """Return what the static part becomes.

    Raises:
        TaskstateError: a citation, a path or a macro is wrong.
    """
    return _Capture(known).captured()


class _Capture:
    """One capture: the table and the remarks grow part by part."""

    def __init__(self, known: CaptureInput) -> None:
        self.known = known
        self.held = known.static
        self.given = known.given
        self.rows: list[CapturedField] = []
        self.notes: list[str] = []
        self.kept: list[str] = []
        self._long: list[str] = []  # remarks on values that may not be taken

    def captured(self) -> CapturedContext:
        """Return what everything becomes."""
        given, held = self.given, self.held
        values = {key: self.value(key) for key in SEALED_VALUES}
        description = self.description(held.description, given.description if given else "")
        scope_in, scope_out = self.scope(given.scope_in, given.scope_out) if given else self.scope((), ())
        criteria = self.criteria(held.criteria, given.criteria if given else ())
        found = captured_citations(self.known, values)
        self.notes += found.notes
        self.tell("standards", _counted(len(found.citations), "citation"), found.source)
        commands = self.commands(values["area"])
        paths = self.paths(scope_in)
        static = StaticPart(description, scope_in, scope_out, criteria, found.citations, commands, paths)
        return CapturedContext(values, static, tuple(self.rows), tuple(self.notes), tuple(self.kept))

    def value(self, key: str) -> str:
        """Return title, priority or area."""
        held, offered = self.known.values.get(key, ""), getattr(self.given, key, "")
        copies = (_words(getattr(each, key)) for each in self.known.copied)
        same = _words(held) == _words(offered)
        takes = self.takes(key, held=held, offered=offered, same=same, is_copy=_words(held) in copies)
        taken = escaping.one_line(" ".join(offered.split()), what=f"the {key}") if takes else held
        self.tell(key, taken, self.source(held, offered if takes or held == offered else "", own=FRONT_MATTER))
        return taken

    def description(self, held: str, offered: str) -> str:
        """Return the description."""
        copies = (_words(_written(each.description)) for each in self.known.copied)
        is_copy = _words(held) in copies
        offered = _written(offered)
        offered = self.fitting("the description", offered, ("description",), held)
        same = _words(held) == _words(offered)
        takes = self.takes("description", held=held, offered=offered, same=same, is_copy=is_copy)
        taken = offered if takes else held
        if not takes and not same:
            self.warn_long("the description", held)
        what = _counted(len(taken.split("\n")), "line") if taken else ""
        self.tell("description", what, self.source(held, offered if takes or same else ""))
        return taken

    def scope(self, offered_in: tuple[str, ...], offered_out: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
        """Return what is in and what is out of the task."""
        held = self.held.scope_in, self.held.scope_out
        offered = (
            self.each_fitting("an item of the scope", offered_in, ("scope", "in"), held[0]),
            self.each_fitting("an item of the scope", offered_out, ("scope", "out"), held[1]),
        )
        same = _same(held[0], offered[0]) and _same(held[1], offered[1])
        is_copy = any(_same(held[0], each.scope_in) and _same(held[1], each.scope_out) for each in self.known.copied)
        takes = self.takes("scope", held=any(held), offered=any(offered), same=same, is_copy=is_copy)
        taken = offered if takes else held
        what = f"{len(taken[0])} in, {len(taken[1])} out" if any(taken) else ""
        self.tell("scope", what, self.source(any(held), any(offered) and (takes or same)))
        return taken

    def criteria(self, held: tuple[str, ...], offered: tuple[str, ...]) -> tuple[str, ...]:
        """Return the acceptance criteria."""
        offered = self.each_fitting("a criterion", offered, ("acceptance_criteria",), held)
        same = _same(held, offered)
        is_copy = any(_same(held, each.criteria) for each in self.known.copied)
        takes = self.takes("acceptance criteria", held=held, offered=offered, same=same, is_copy=is_copy)
        taken = offered if takes else held
        what = str(len(taken)) if taken else ""
        self.tell("acceptance criteria", what, self.source(held, offered if takes or same else ()))
        return taken

    def commands(self, area: str) -> tuple[str, ...]:
        """Return the validation commands: the task's own, else those of its area, else those of all areas."""
        held, offered = self.held.commands, self.given.commands if self.given else ()
        usual = self.known.config.validation.get(area, ()) if area else ()
        where = f"{self.known.settings}, {area}"
        if not usual:
            usual, where = self.known.config.validation.get(ALL_AREAS, ()), f"{self.known.settings}, all areas"
        # What section 1 holds may be what the configuration said then: with a task file, it is no word of the task's.
        if usual and not offered and (not held or (self.known.anew and self.given)):
            taken, source = usual, where
        else:
            is_copy = any(held == each.commands for each in self.known.copied)
            takes = self.takes("validation", held=held, offered=offered, same=held == offered, is_copy=is_copy)
            taken = offered if takes else held
            source = self.source(held, offered if takes or held == offered else ())
        for command in taken:
            self.warn_long("a validation command", command)
        self.tell("validation", _counted(len(taken), "command") if taken else "", source)
        return taken

    def paths(self, scope_in: tuple[str, ...]) -> tuple[str, ...]:
        """Return the repository paths: macros resolved, globs kept, sorted."""
        macros, held = self.known.config.scope, captured_paths(self.held.paths, self.known.config.scope)
        given = self.given.scope_in if self.given else ()
        named = paths_among(given) if given else scope_in if looks_like_paths(scope_in) else ()
        offered = captured_paths([pattern_of(each) for each in named], macros)
        self.notes += left_out_notes(given, named)
        same = [pattern_of(each) for each in held] == [pattern_of(each) for each in offered]
        is_copy = any(self.is_copy_of(held, each) for each in self.known.copied)
        # Without a task file the scope only fills a gap: the paths may well say more than it.
        takes = (not given and not held) or self.takes(
            "repository paths", held=held, offered=offered, same=same, is_copy=is_copy
        )
        taken = offered if takes else held
        source = self.source(held, offered if takes or same else ()) if given or held else "scope"
        self.tell("repository paths", str(len(taken)) if taken else "", source)
        return taken

    def is_copy_of(self, held: tuple[str, ...], given: TaskFile) -> bool:
        """Return whether repository paths are those that a task file names."""
        with suppress(TaskstateError):  # a macro of then may be gone
            named = captured_paths([pattern_of(each) for each in paths_among(given.scope_in)], self.known.config.scope)
            return [pattern_of(each) for each in held] == [pattern_of(each) for each in named]
        return False

    # What they share

    def takes(self, part: str, *, held: object, offered: object, same: bool, is_copy: bool) -> bool:
        """Return whether a part is taken from the task file; a remark says what was kept although that differs.

        What the state file has as a mere copy of the task file gives way to what that says now.
        """
        long, self._long = self._long, []
        if not offered or (held and same):
            self.notes += long
            return False
        if held and not self.known.anew and not is_copy:
            self.kept.append(part)
            self.notes.append(
                f"{part}: kept as the state file has it, although {self._file} says otherwise; "
                "`taskstate context rebuild` takes what that says"
            )
            return False
        self.notes += long
        return True

    @property
    def _file(self) -> str:
        return self.given.name if self.given else "the task file"

    def source(self, held: object, offered: object, *, own: str = OWN) -> str:
        """Return where a part came from."""
        return self._file if offered else own if held else ""

    def tell(self, part: str, what: str, source: str) -> None:
        """Add a row to the table."""
        self.rows.append(CapturedField(part, " ".join(what.split()) or NONE, source if what else ""))

    # Values that are too long

    def fitting(self, what: str, text: str, path: KeyPath, held: str) -> str:
        """Return a value of the task file, cut and with a pointer to the whole where it is long and that is wanted.

        What was cut once is cut again, so that capturing anew gives the same.
        """
        size = size_in_bytes(text)
        if size <= MAX_VALUE_BYTES or self.given is None:
            return text
        place = f"{self.given.name}#L{self.given.lines.get(path, 1)}"
        if self.known.shorten or f"{_MARK}{self.given.name}#L" in held:
            self._long.append(f"{what} is cut to {MAX_VALUE_BYTES} of its {size} bytes, and points to {place}")
            return shorten(text, place)
        self._long.append(
            f"{what} holds {size} bytes, more than {MAX_VALUE_BYTES}: --shorten cuts it, and points to {place}"
        )
        return text

    def each_fitting(self, what: str, texts: tuple[str, ...], path: KeyPath, held: tuple[str, ...]) -> tuple[str, ...]:
        """Return the values of a list, as `fitting` does."""
        known = "\n".join(held)
        return tuple(self.fitting(what, text, (*path, index), known) for index, text in enumerate(texts))

    def warn_long(self, what: str, text: str) -> None:
        """Remark on a value for which there is no other place to point to."""
        size = size_in_bytes(text)
        if size > MAX_VALUE_BYTES:
            self.notes.append(f"{what} holds {size} bytes, more than {MAX_VALUE_BYTES}: say it in fewer words")


def shorten(text: str, place: str) -> str:
    """Return a text of at most `MAX_VALUE_BYTES` bytes, cut between words, that points to the place of the whole."""
    pointer = f"{_MARK}{place}"
    room = MAX_VALUE_BYTES - len(pointer.encode()) - len("\n```\n\n")
    kept = text.encode()[:room].decode("utf-8", "ignore")
    end = max(kept.rfind(char) for char in " \n")
    kept = (kept[:end] if end > 0 else kept).rstrip()
    return (
        f"{escaping.paragraphs(kept, deepest=escaping.SUBSECTION_LEVEL)}\n\n{pointer}"
        if "\n" in kept
        else f"{kept} {pointer}"
    )


def _written(description: str) -> str:
    """Return a task file's description as it stands in section 1."""
    return (
        escaping.paragraphs(description, what="the description", deepest=escaping.SUBSECTION_LEVEL)
        if description
        else ""
    )


def _words(text: str) -> list[str]:
    return text.split()


def _same(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return whether two lists of texts have the same words."""
    return [_words(each) for each in one] == [_words(each) for each in other]


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
