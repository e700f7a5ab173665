"""Normalizes text captured from a task file, so that its hash changes only with its meaning (normalizer 2.0.0)."""

from __future__ import annotations

import re

from taskstate.syntax.spans import with_newlines

NORMALIZER_VERSION = "2.0.0"
WIDTH = 120

_BLANKS = re.compile(r"[ \t]+")  # other white space, such as a no-break space, is part of a word
_COMMENT = re.compile(r"#(?:[ \t]|\Z)")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*\Z)|~{3,})")
_TABLE = re.compile(r"(?=.*-)(?=.*[|:])[-:| \t]+\Z")  # the line below the head of a table
_FENCE_END = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*\Z")
# Lines whose end matters, so that they are never joined: items, headings, quotes, tables, HTML, rules and underlines,
# link definitions, and indented lines, by any white space.
_LINE_END_MATTERS = re.compile(
    r"\s|[-*+#](?:[ \t]|\Z)|\d{1,9}[.)](?:[ \t]|\Z)|##|[>|<]|(?:=+|-+|(?:[*_-][ \t]*){3,})[ \t]*\Z|\[[^\]]+\]:"
)


# Code is left as it is. A comment that has its lines for itself takes them along, so that it splits no paragraph.
_HTML_COMMENT = re.compile(
    r"(?ms)(?P<code>^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|(?<!`)(?P<ticks>`+)(?!`)(?:[^\n]|\n(?![ \t]*$))+?(?<!`)(?P=ticks)(?!`))"
    r"|^[ \t]*(?:<!--(?:(?!-->).)*+-->[ \t]*)++\n|<!--(?:(?!-->).)*+-->"
)


def without_html_comments(text: str) -> str:
    """Return a text without its HTML comments; one in code, or one that never ends, stays."""
    text = with_newlines(text, "\n")
    last = text.rfind("-->")
    if last < 0:
        return text
    end = text.find("\n", last) + 1 or len(text)  # below it no comment ends, and looking for one takes time
    return _HTML_COMMENT.sub(_without_comment, text[:end]) + text[end:]


def _without_comment(match: re.Match[str]) -> str:
    """Return what stands instead of a match: code itself, and a space where two halves would make a new comment."""
    halves = match.string.startswith(("!", "-"), match.end()) and match.string.endswith(
        ("<", "<!", "<!-"), 0, match.start()
    )
    return match["code"] or (" " if halves else "")


def normalize(text: str, *, has_comments: bool = True) -> str:
    """Return `text` without comments, paragraphs wrapped at 120 characters, blank lines single, one LF at the end.

    HTML comments are left out, too. Fences, tables and indented lines, which may be code, stay as they are. Where a
    text `has_comments`, they are its lines of `#` and a blank; `#42` begins a word, and `##` a heading.
    """
    normal = _normalized(text, has_comments=has_comments)
    # A backtick that goes with its `#` line may have made a code span of an HTML comment further down.
    while "-->" in normal and (again := _normalized(normal, has_comments=has_comments)) != normal:
        normal = again
    return normal


def comment_lines(text: str) -> tuple[str, ...]:
    """Return the lines of a text that `normalize` takes for comments."""
    found, fence = [], ""
    for line in without_html_comments(text).split("\n"):
        fence_before, fence = fence, _fence_after(line, fence)
        if not (fence_before or fence) and _COMMENT.match(line):
            found.append(line)
    return tuple(found)


def _normalized(text: str, *, has_comments: bool) -> str:
    """Return a text normalised once; what that uncovers, see `normalize`, is left to the next time."""
    blocks: list[str] = []
    paragraph: list[str] = []
    fence = ""
    in_table = False
    for line in [*without_html_comments(text).split("\n"), ""]:
        fence_before = fence
        fence = _fence_after(line, fence)
        fenced = bool(fence_before or fence)
        if has_comments and not fenced and _COMMENT.match(line):
            continue
        begins_table = not fenced and bool(_TABLE.match(line))
        in_table = begins_table or (in_table and not fenced and bool(line.strip(" \t")))
        table_head = [paragraph.pop()] if begins_table and paragraph else []
        if fenced or in_table or not line.strip(" \t") or _LINE_END_MATTERS.match(line):
            _flush(paragraph, blocks)
            blocks += [*table_head, line.rstrip(" \t")]
        else:
            paragraph.append(line.strip(" \t"))
    _flush(paragraph, blocks)
    return "\n".join(_single_blanks(blocks)).strip("\n") + "\n"


def _fence_after(line: str, fence: str) -> str:
    """Return the marks of the fence that is open after a line, empty for none; `fence` is the one open before it."""
    marks = _FENCE_END.match(line) if fence else _FENCE.match(line)
    if not fence:
        return marks[1] if marks else ""
    return "" if marks and marks[1].startswith(fence) else fence


def _flush(paragraph: list[str], blocks: list[str]) -> None:
    """Move a paragraph, joined and wrapped anew, to `blocks`."""
    if paragraph:
        words = _BLANKS.split(" ".join(paragraph))
        wrapped = _wrapped(words)
        changes_meaning = any(
            pattern.match(line) for pattern in (_LINE_END_MATTERS, _COMMENT, _FENCE, _TABLE) for line in wrapped
        )
        # A wrapped line may begin with a word such as `-` or `#`, which would make it a list item or a comment.
        blocks.extend([" ".join(words)] if changes_meaning else wrapped)
        paragraph.clear()


def _wrapped(words: list[str]) -> list[str]:
    """Return the words in lines of at most `WIDTH` characters; a longer word has a line of its own."""
    lines = words[:1]
    for word in words[1:]:
        if len(lines[-1]) + 1 + len(word) <= WIDTH:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _single_blanks(lines: list[str]) -> list[str]:
    """Return the lines with runs of blank ones made one, except in fences and before indented lines (maybe code)."""
    result: list[str] = []
    fence = ""
    for line, indented in zip(lines, _before_indented(lines), strict=True):
        fence = _fence_after(line, fence)
        if line or fence or not result or result[-1] or indented:
            result.append(line)
    return result


def _before_indented(lines: list[str]) -> list[bool]:
    """Return, for each line, whether the next line that is not blank, itself included, is indented."""
    indented: list[bool] = []
    for line in reversed(lines):
        indented.append(line[0] in " \t" if line else bool(indented) and indented[-1])
    return indented[::-1]
