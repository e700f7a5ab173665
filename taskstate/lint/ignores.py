"""Adds directives for the findings of a text, so that a repository that exists already begins without any.

A directive stands above its finding where nothing but a comment is added by that: above a key, a heading or a fence.
Where a line more would change what must not change (a session, the sealed static part, an archived entry) or break a
list in two, it covers the whole file and stands at its top.
"""

from __future__ import annotations

from collections import Counter

from taskstate.lint import engine
from taskstate.lint.suppressions import GUARDS, LINE, WHOLE_FILE
from taskstate.model.write_metadata import has_write_metadata
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply, in_order
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from taskstate.lint.diagnostics import Diagnostic
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.lint.queries.interface import Queries
    from taskstate.model.config import Config

_REASON = "accepted by --add-ignores"
# Beside what no directive may silence: bytes that cannot be read as text, and faults of directives themselves.
_NEVER = GUARDS | {"TS001", "TS010"}
_MENDED_BY_ANY_WRITE = "TS105"


class Ignored(NamedTuple):
    """A text with directives: `codes` are those of the findings that it silences, `left` those that it does not."""

    text: str
    codes: tuple[str, ...]
    left: tuple[str, ...]


def with_ignores(text: str, name: str, config: Config, queries: Queries, *, only: Diagnostic | None = None) -> Ignored:
    """Return a text with a directive for each finding that one can silence, or for the one finding `only`.

    The directives are checked: a text that has a finding more with them than without stays as it was.
    """
    facts = engine.facts_of(parse(text, queries.kinds), name, config, queries)
    before = engine.check(text, name, config, queries)
    wanted = [each for each in before if only in (None, each) and _may_be_silenced(each, facts)]
    for places in (_own_places(wanted, facts), {}, {}):
        new = apply(text, _edits(wanted, places, facts))
        after = engine.check(new, name, config, queries)
        more = _codes(after) - _codes(each for each in before if each not in wanted)
        if not more:
            return Ignored(new, tuple(sorted(_codes(wanted))), tuple(sorted(_codes(after))))
        if not places:
            wanted = [each for each in wanted if each.code not in more]  # no directive silences these
    return Ignored(text, (), tuple(sorted(_codes(before))))


def _codes(diagnostics: Iterable[Diagnostic]) -> Counter[str]:
    return Counter(each.code for each in diagnostics)


def _may_be_silenced(diagnostic: Diagnostic, facts: Facts) -> bool:
    if diagnostic.code == _MENDED_BY_ANY_WRITE and has_write_metadata(facts.document):
        return False
    return diagnostic.code not in _NEVER and not facts.is_json  # JSON has no comments


def _own_places(diagnostics: Iterable[Diagnostic], facts: Facts) -> dict[Diagnostic, int]:
    """Return the offset for the directive of each finding that can have one of its own."""
    places = ((each, _place(each.span.start, facts)) for each in diagnostics)
    return {each: place for each, place in places if place is not None}


def _place(at: int, facts: Facts) -> int | None:
    document, front_matter = facts.document, facts.document.front_matter
    start = document.starts[document.position(at).line]
    if front_matter.node and front_matter.span and at < front_matter.span.end:
        keys = {document.starts[document.position(each.key.span.start).line] for each in front_matter.node.entries}
        return start if start in keys and start > min(keys) else None
    blocks = (each for each in document.blocks if each.kind != "html")
    block = next((each for each in blocks if each.span.start <= at < each.span.end), None)
    if block is None or _is_kept(block.span.start, facts):
        return None
    return block.span.start


def _is_kept(at: int, facts: Facts) -> bool:
    """Return whether a new line at an offset would change a session, an archived entry or the sealed static part."""
    if facts.file_type == "archive" or (facts.sealed and facts.sealed.start < at <= facts.sealed.end):
        return True
    return any(each.section.span.start < at <= each.section.span.end for each in facts.state.sessions)


def _edits(wanted: Iterable[Diagnostic], places: dict[Diagnostic, int], facts: Facts) -> list[Edit]:
    by_place: dict[int, set[str]] = {}
    for_all = {each.code for each in wanted if each not in places}
    for each, place in places.items():
        if each.code not in for_all:  # one for the whole file silences this one, too
            by_place.setdefault(place, set()).add(each.code)
    edits = [Edit(at, at, _comment(LINE, codes, at, facts)) for at, codes in by_place.items()]
    return in_order([*edits, *_for_whole_file(for_all, facts)])


def _for_whole_file(codes: set[str], facts: Facts) -> Iterator[Edit]:
    """Yield the edit that adds a directive for the whole file: above the first key, or below the title."""
    document, front_matter = facts.document, facts.document.front_matter
    if not codes:
        return
    if front_matter.node and front_matter.content:
        yield Edit(front_matter.content.start, front_matter.content.start, _comment(WHOLE_FILE, codes, 0, facts))
        return
    start = front_matter.span.end if front_matter.span else 0
    title = next((each for each in document.blocks if each.kind == "heading" and each.span.start >= start), None)
    line = document.position(title.span.end).line + 1 if title else document.position(start).line
    at = document.starts[line] if line < len(document.starts) else len(document.text)
    newline, comment = document.newline, _comment(WHOLE_FILE, codes, len(document.text), facts)
    if not at:
        yield Edit(0, 0, f"{comment}{newline}")
        return
    before = newline if document.text[:at].endswith(("\n", "\r")) else newline * 2
    yield Edit(at, at, f"{before}{comment}")


def _comment(verb: str, codes: set[str], at: int, facts: Facts) -> str:
    """Return the line of a directive for the front matter or, behind it, for the body."""
    words = f"taskstate: {verb} {' '.join(sorted(codes))} {_REASON}"
    front_matter = facts.document.front_matter
    in_front_matter = front_matter.node and front_matter.span and at < front_matter.span.end
    return f"{f'# {words}' if in_front_matter else f'<!-- {words} -->'}{facts.document.newline}"
