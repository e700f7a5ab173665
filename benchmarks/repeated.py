"""State files in which one construct of the format occurs thousands of times, as hostile or broken writers make them.

Each construct is a line or a few, put where it belongs in a small state file; `{n}` stands for its number.
"""

from __future__ import annotations

from typing import NamedTuple

from benchmarks import corpus

_GIT = "## 5. Git History\n"  # what stands before it is the end of the Progress Log
_NOTES = "## Notes\n"
_CRITERIA = "### Acceptance Criteria\n\n"
_FRONT = "baseline: {status: pending}"
_FEATURES = '  "features": [\n'
_DID = "**What I did:**\n\n"
_DESCRIPTION = "### Task Description\n\n"
_HISTORY = "## 5. Git History\n\n"


class Construct(NamedTuple):
    """What is repeated: `text` once for each number, before or (with `behind`) behind the words at `place`."""

    text: str
    place: str = _NOTES
    behind: bool = True
    head: str = ""
    tail: str = ""


PLAIN = Construct("One more line of plain words in this file.\n\n", head="\n")

CONSTRUCTS = {
    "sections": Construct("## Part {n}\n\n", _GIT, behind=False),
    "one section": Construct("## 4. Progress Log\n\n", _GIT, behind=False),
    "subsections": Construct("### Part {n}\n\n", _DESCRIPTION),
    "deep headings": Construct("###### Part {n}\n\n", head="\n"),
    "titles": Construct("# Task #1: again\n\n", head="\n"),
    "underlined headings": Construct("Part {n}\n---\n\n", head="\n"),
    "sessions": Construct("### Session {n} - 2024-01-02 01:00\n\n", _GIT, behind=False),
    "one session": Construct("### Session 1 - 2024-01-02 01:00\n\n", _GIT, behind=False),
    "sessions backwards": Construct("### Session {down} - 2024-01-02 01:00\n\n", _GIT, behind=False),
    "session without number": Construct("### Session - 2024-01-02\n\n", _GIT, behind=False),
    "sessions elsewhere": Construct("### Session {n} - 2024-01-02 01:00\n\n- read it\n\n", _NOTES, behind=False),
    "sessions too deep": Construct("#### Session {n} - 2024-01-02 01:00\n\n", _GIT, behind=False),
    "summaries": Construct("### Archived Summary (Sessions 1-{n})\n\n", _GIT, behind=False),
    "labels": Construct("**What I did:**\n\n", _GIT, behind=False),
    "next steps": Construct("**Next steps:**\n\n- {n}\n\n", _GIT, behind=False),
    "comments": Construct("<!-- remark {n} -->\n\n", head="\n"),
    "unclosed comments": Construct("<!-- remark {n}\n", head="\n"),
    "dividers": Construct("Part {n}\n=======\n\n", head="\n"),
    "HTML": Construct("<div>\n\n", head="\n"),
    "directives": Construct("<!-- taskstate: ignore TS404 -->\n\n", _GIT, behind=False),
    "directives in one run": Construct("<!-- taskstate: ignore TS404 -->\n", _GIT, behind=False, tail="\n"),
    "directives of used codes": Construct("<!-- taskstate: ignore TS401 -->\n### Session\n\n", _GIT, behind=False),
    "ranges of directives": Construct(
        "<!-- taskstate: ignore-start TS404 -->\n\n<!-- taskstate: ignore-end -->\n\n", _GIT, behind=False
    ),
    "near directives in a line": Construct("# taskstate ignore ", head="\n", tail="\n"),
    "directives in front matter": Construct("# taskstate: ignore TS104\n", _FRONT, behind=False),
    "codes in a directive": Construct("TS404 ", _GIT, behind=False, head="<!-- taskstate: ignore ", tail="-->\n\n"),
    "fences": Construct("```json\n{{}}\n```\n\n", head="\n"),
    "broken JSON": Construct("```json\n{{{{\n```\n\n", _CRITERIA),
    "fences in a session": Construct("```json\n{{}}\n```\n\n", _GIT, behind=False),
    "open fences": Construct("````{n}\n", head="\n"),
    "ordered items": Construct("{n}. one more item\n", head="\n"),
    "list items": Construct("- one more item\n", head="\n"),
    "deep list": Construct("{indent}- deeper\n", head="\n"),
    "done items": Construct("- read `a.py` {n}\n", _DID),
    "criteria": Construct("- [ ] one more\n", _CRITERIA),
    "criteria without a blank": Construct("- [] one more {n}\n", _CRITERIA),
    "criteria in no list": Construct("[ ] one more {n}\n\n", _CRITERIA),
    "commits": Construct("- `8e67d56` - Message {n}\n", _HISTORY),
    "keys": Construct("x-key-{n}: 1\n", _FRONT, behind=False),
    "misspelt keys": Construct("ownr{n}: 1\n", _FRONT, behind=False),
    "one key": Construct("epic: again\n", _FRONT, behind=False),
    "key and list": Construct("  - item {n}\n", _FRONT, behind=False, head="depends_on:\n"),
    "nested keys": Construct("  x-key-{n}: 1\n", _FRONT, behind=False, head="x-map:\n"),
    "long value": Construct("words ", _FRONT, behind=False, head="x-words: ", tail="\n"),
    "escapes in a value": Construct("\\n", _FRONT, behind=False, head='x-words: "', tail='"\n'),
    "anchors": Construct("x-key-{n}: &a{n} 1\n", _FRONT, behind=False),
    "features": Construct('{{"id": "n-{n}", "description": "d", "passes": false, "tested_at": null}},\n', _FEATURES),
    "one feature": Construct('{{"id": "f-1", "description": "d", "passes": false, "tested_at": null}},\n', _FEATURES),
    "proved features": Construct(
        '{{"id": "n-{n}", "description": "d", "passes": true, "tested_at": "2024-01-01T00:00:00Z", "evidence": "e"}},'
        "\n",
        _FEATURES,
    ),
    "JSON lists": Construct("[[{n}]],\n", "```json\n{\n", head='"x-lists": [', tail="0],\n"),
    "JSON escapes": Construct("\\n", "```json\n{\n", head='"x-words": "', tail='",\n'),
    "JSON keys": Construct('"x-{n}": 1,\n', '```json\n{\n  "features"', behind=True, head=": [],\n", tail='"x-last"'),
    "citations": Construct("### Standard {n} [docs/a.md:1-2]\n\nText.\n\n", _DESCRIPTION),
    "table rows": Construct("| {n} | b |\n", head="\n| a | b |\n| --- | --- |\n"),
    "table cells": Construct("| a ", head="\n", tail="|\n"),
    "links": Construct("See [it](docs/a.md#part-{n}).\n\n", head="\n"),
    "link definitions": Construct("[a{n}]: docs/a.md\n", head="\n"),
    "open brackets": Construct("[", head="\n", tail="\n"),
    "quotes": Construct("> one more\n\n", head="\n"),
    "deep quotes": Construct("> ", head="\n", tail="x\n"),
    "emphasis": Construct("*a **b ", head="\n", tail="\n"),
    "backticks": Construct("`{ticks} ", head="\n", tail="\n"),
    "one long line": Construct("words and words and ", head="\n", tail="\n"),
    "long item": Construct("words and words and ", _DID, head="- ", tail="\n"),
    "blank lines": Construct("\n"),
    "carriage returns": Construct("word\r", head="\n", tail="\n"),
    "conflict markers": Construct("<<<<<<< a\n=======\n>>>>>>> b\n", head="\n"),
    "fenced conflicts": Construct("```\n<<<<<<< a\n=======\n>>>>>>> b\n```\n\n", head="\n"),
    "controls": Construct("\x1b[1m\n", head="\n"),
    "invisible": Construct("a\u200bb\n", head="\n"),
    "invisible in a line": Construct("a\u200bb ", head="\n", tail="\n"),
    "secrets in a line": Construct('password = "hQ7x9Lm2Tr{n}Zw" ', head="\n", tail="\n"),
    "secrets": Construct('password = "hQ7x9Lm2Tr{n}Zw"\n', head="\n"),
    "paths": Construct("- `../../outside/{n}`\n", "**In:**\n\n"),
    "chain inputs": Construct("### From Task {n}\n\n> Quoted.\n\n", "## 2. Chain Inputs\n\n"),
    "placeholders": Construct("*To be completed.*\n\n", "### Summary\n\n"),
}
_DEEPEST = 300  # levels of a list, and backticks in a row; then from the beginning


def base() -> str:
    """Return the small state file into which constructs are put."""
    _, data = next(corpus.generate(corpus.Corpus(name="list", files=1, least=3, most=3, total="")))
    return data.decode()


def repeated(construct: Construct, count: int) -> str:
    """Return the state file with `count` of a construct in it."""
    body = "".join(
        construct.text.format(n=n, down=count - n + 1, indent="  " * (n % _DEEPEST), ticks="`" * (n % _DEEPEST))
        for n in range(1, count + 1)
    )
    new = construct.head + body + construct.tail
    place = construct.place
    return base().replace(place, place + new if construct.behind else new + place, 1)


def plain(size: int) -> str:
    """Return the state file with plain text, as large as `size` characters or a little more."""
    missing = max(size - len(base()), 0)
    return repeated(PLAIN, missing // len(PLAIN.text) + 1)
