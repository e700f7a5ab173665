"""Numbers of sessions and findings inside texts: compares entries apart from these, and renumbers them."""

from __future__ import annotations

import re

from taskstate.model.session_texts import FINDING_VERBS, FINDINGS, tells_more
from taskstate.syntax.patterns import compiled
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ANY = r"(?i)(session\s+#?)\d{1,9}\b"
_HEADING = r"(?i)\A(#+[ \t]+session\s+#?)\d{1,9}\b"
# `Session 5`, but not in code, not in a range or list of numbers, and not a session of another task. The first
# alternative consumes code spans, so that nothing inside one is taken for a reference.
_REFERENCE = (
    r"`+[^`\n]*`+|\b(?P<word>[Ss]ession\s+#?)(?P<number>\d{1,9})\b"
    r"(?![.-]?\d|\s*[-\u2013,]\s*\d|\s+(?:of\b|(?:and|or|to)\s+\d))"
)
# What stands below the label of a turn's findings, and `raised 3: …` in it, in one line or in a list.
_FINDINGS = rf"(?ms)^\*\*{FINDINGS.label}:\*\*.*?(?=^\*\*[^*\n]+:\*\*|^#|\Z)"
_FINDING = rf"(?m)((?:^(?:\*\*{FINDINGS.label}:\*\*|-)[ \t]+|; )(?:{'|'.join(FINDING_VERBS)}) )(\d{{1,9}})(?=:| \()"
_FENCE = r"[ \t>*+-]*(?:\d+[.)][ \t]+)?(`{3,}|~{3,})"


def identity(entry: str) -> str:
    """Return an entry with all numbers of sessions and findings masked: a merge may change these, and nothing else."""
    text: str = compiled(_ANY).sub(_masked, entry.rstrip())
    if f"**{FINDINGS.label}:**" in entry:
        text = _each_finding(text, _masked)
    return text


def fuller(one: str, other: str) -> str:
    """Return the one of two entries that says all of the other and besides what its turn adds, or "" if none does."""
    forms = identity(one), identity(other)
    return one if tells_more(*forms) else other if tells_more(*reversed(forms)) else ""


def _masked(match: re.Match[str]) -> str:
    return f"{match[1]}#"  # a template would be expanded anew each time


def renumbered(entry: str, number: int, moved: Mapping[int, int]) -> str:
    """Return an entry with a new number; references to sessions are updated by `moved`, old numbers to new ones."""
    heading, newline, body = entry.partition("\n")
    heading = re.compile(_HEADING).sub(rf"\g<1>{number}", heading)
    return heading + newline + (_with_references(body, moved) if moved else body)


def with_findings(text: str, moved: Mapping[int, int]) -> str:
    """Return a text whose lines on findings name them by their new numbers; `moved` gives these by the old ones."""
    return _each_finding(text, lambda match: f"{match[1]}{moved.get(int(match[2]), match[2])}")


def _each_finding(text: str, replacement: Callable[[re.Match[str]], str]) -> str:
    """Return a text in which each number of a finding is replaced, below their label alone."""
    found: str = compiled(_FINDINGS).sub(lambda part: compiled(_FINDING).sub(replacement, part[0]), text)
    return found


def _with_references(body: str, moved: Mapping[int, int]) -> str:
    """Return a text with its references updated, except those in code fences, which are quotations."""
    lines, fence = body.split("\n"), ""
    for index, line in enumerate(lines):
        mark = re.compile(_FENCE).match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
        elif not fence:
            lines[index] = re.compile(_REFERENCE).sub(lambda match: _renumbered_reference(match, moved), line)
    return "\n".join(lines)


def _renumbered_reference(match: re.Match[str], moved: Mapping[int, int]) -> str:
    if match["number"] is None:
        return match[0]
    number = int(match["number"])
    return f"{match['word']}{moved[number]}" if number in moved else match[0]
