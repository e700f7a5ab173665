"""front-matter-yaml: the front matter is not valid YAML, or uses what this format does not allow.

## What

The block between the `---` lines cannot be read: it is not valid YAML, has a duplicate key or a tag such as
`!!python/object`, has more than 100 anchors or aliases, or is nested more than 50 levels deep. A value that begins with
`#` is reported too: YAML reads it as a comment, and the key has no value. So is a block that stands there twice, and a
line `---` below the first one, which leaves the block empty.

## Why

One unreadable line makes the whole block unreadable, and programs differ in how they deal with it: some take the last
of two equal keys, some execute tags, some expand aliases until the memory is full.

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

`taskstate lint --fix` does so where the intended value is certain. It also adds a missing blank behind a colon, and a
missing quote at the end of a value.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import WHOLE, Diagnostic, Diagnostics, Fix, Rule
from taskstate.lint.facts.wording import first_line_of
from taskstate.syntax.edits import Edit
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.spans import Span

RULE = Rule.of("TS003", __name__, "the front matter is not valid YAML", fixable=True, reads=WHOLE)

_HELP = {
    "duplicate-key": "keep the right one, and delete the other",
    "tag": "delete the tag: the schema says what type a value has",
    "aliases": "write the values out instead of referring to them",
    "nesting": "put what is nested so deeply into a file of its own, and name its path here",
    "tab-indent": "indent with spaces",
    "syntax": "a value with special characters belongs in double quotes; indentation is made of spaces",
    "not-a-mapping": "write lines of the form `key: value`",
    "no-blank": "put a space after the colon",
    "quote-unclosed": "close the quote at the end of the value",
    "bracket-unclosed": "close the bracket at the end of the value",
    "equals-sign": "write `key: value`",
    "doubled": "delete this line",
    "second": "delete it, with the marks around it, once the first one is right",
    "remark": "begin it with `#`, or delete it",
    "list-item": "put it, indented by two spaces, below the key that it belongs to, or delete it",
    "not-an-entry": "write it as `key: value`; begin it with `#` if it is a remark; or delete it",
    "indentation": "indent it like the other lines of its block",
}
_DEFAULT_HELP = "put the value in double quotes"
_OTHER_RULES = ("front-matter-missing", "front-matter-unclosed")  # reported by TS002


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each problem of the front matter, and for each value that YAML reads as a comment."""
    document = facts.document
    if facts.overrun or facts.foreign or facts.newer:
        return
    for problem in facts.front_matter_problems:
        if problem.kind not in _OTHER_RULES:
            kind = problem.kind.removeprefix("front-matter-")
            fix = (Edit(problem.span.start, document.front_matter.content.start, ""),) if kind == "doubled" else ()
            yield _finding(problem.span, problem.message, kind, fix or _within_lines(document.text, problem.fix))
    for fault in facts.commented_values:
        yield _finding(fault.span, fault.message, fault.kind, _within_lines(document.text, fault.fix))
    second = facts.second_front_matter
    if second:
        first = document.front_matter.span
        is_same = first is not None and first.of(document.text).strip() == second.of(document.text).strip()
        fix = (Edit(*second, ""),) if is_same else ()
        place = first_line_of(document, second)
        yield _finding(place, "this is a second front matter: only the first is read", "second", fix)


def _within_lines(text: str, fix: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """Return the edits of a fix, or none where one would remove a line end: lines must not be joined."""
    return () if any(char in text[edit.start : edit.end] for edit in fix for char in "\r\n") else fix


def _finding(span: Span, message: str, kind: str, fix: tuple[Edit, ...]) -> Diagnostic:
    help_ = _HELP.get(kind, _DEFAULT_HELP)
    return RULE.at(
        span,
        message,
        help=f"{help_}; `taskstate lint --fix` does that" if fix else help_,
        fix=Fix(edits=fix) if fix else None,
    )
