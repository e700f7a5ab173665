"""front-matter-yaml: the front matter is not valid YAML, or uses what this format does not allow.

## What

The block between the `---` lines cannot be read: it is no valid YAML, a key is given twice, a tag such as
`!!python/object` stands in it, it has more than 100 aliases or is nested more than 50 levels deep. A value that
begins with `#` is told too: YAML reads it as a comment, and the key has no value.

## Why

One unreadable line makes the whole block unreadable, and readers differ in what they make of it: some take the last
of two equal keys, some run tags, some expand aliases until the memory is full.

## Example

```yaml
title: Login: the second attempt
agent: @backend
epic: 'The user's login'
area: #backend
```

## Instead

Put a value in double quotes where it holds `: ` or ` #`, begins with one of ``@ ` % * & # ! |``, or has an
apostrophe, and indent with spaces only:

```yaml
title: "Login: the second attempt"
agent: "@backend"
epic: "The user's login"
area: "#backend"
```

`taskstate lint --fix` does so where it is certain what was meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.lint.diagnostics import WHOLE, Diagnostic, Fix, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document
    from taskstate.syntax.edits import Edit
    from taskstate.syntax.spans import Span

RULE = Rule(
    code="TS003",
    name="front-matter-yaml",
    summary="the front matter is not valid YAML",
    fixable=True,
    reads=WHOLE,
)

_HELP = {
    "duplicate-key": "keep the one that holds, and delete the other",
    "tag": "delete the tag: the schema says what type a value has",
    "aliases": "write the values out instead of referring to them",
    "nesting": "put what is nested so deeply into a file of its own, and name its path here",
    "not-a-mapping": "write lines of the form `key: value`",
}
_OTHERWISE = "a value with special characters belongs in double quotes; indentation is made of spaces"
_MENDED = "`--fix` does that"
_ELSEWHERE = ("front-matter-missing", "front-matter-unclosed")


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:
    """Yield what keeps the front matter from being read, and the values of a readable one that became comments."""
    if facts.overrun or facts.foreign or facts.newer:
        return
    for problem in facts.front_matter_problems:
        if problem.kind not in _ELSEWHERE:
            kind = problem.kind.removeprefix("front-matter-")
            yield _finding(problem.span, problem.message, kind, _within_lines(document.text, problem.fix))
    for fault in facts.commented_values:
        yield _finding(fault.span, fault.message, fault.kind, _within_lines(document.text, fault.fix))


def _within_lines(text: str, fix: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """Return the edits of a fix, or none where one would swallow a line end: values are mended, never joined."""
    return () if any(char in text[edit.start : edit.end] for edit in fix for char in "\r\n") else fix


def _finding(span: Span, message: str, kind: str, fix: tuple[Edit, ...]) -> Diagnostic:
    advice = _MENDED if fix else _HELP.get(kind, _OTHERWISE)
    return RULE.at(span, message, help=advice, fix=Fix(edits=fix) if fix else None)
