"""front-matter-missing: the file has no front matter, or it never closes.

## What

A state file and a handoff document begin with a YAML block: a line `---` at the very first byte (only a byte order mark
may stand before it), `key: value` lines, and a second line `---`. Here the first or the second `---` is missing. A
handoff document without any front matter is taken for one of another tool, and gives no finding.

## Why

Without this block no program can find out which task the file is about and what its status is: lists would leave the
task out, and its number would be given to another one.

## Example

A blank line before the block, or a title above it, hides it from every reader:

```markdown

---
task_id: "101"
```

## Instead

```markdown
---
taskstate: 1
task_id: "101"
title: JWT service
status: in_progress
created_at: "2026-01-31T12:00:00Z"
---

# Task #101: JWT service - State
```
"""

from __future__ import annotations

from taskstate.lint.diagnostics import WHOLE, Diagnostics, Rule
from taskstate.messages import typed_path
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document

RULE = Rule.of("TS002", __name__, "the file has no front matter, or it never closes", reads=WHOLE)

_MISSING = "the file has no front matter: its first line must be `---`"
_UNCLOSED = "the front matter begins here and never closes"


def check(facts: Facts) -> Diagnostics:
    """Yield at most one finding, at the first line."""
    document = facts.document
    if facts.overrun and document.front_matter.span:
        line = document.position(document.front_matter.content.end).line + 1
        yield RULE.at(
            facts.first_line,
            f"{_UNCLOSED}: the next `---` is in line {line}, below the body's headings",
            help="put a line `---` between the last key and the title",
        )
    for problem in facts.front_matter_problems:
        if problem.kind == "front-matter-unclosed":
            yield RULE.at(problem.span, _UNCLOSED, help="put a line `---` between the last key and the title")
        elif problem.kind == "front-matter-missing" and not facts.foreign:
            yield RULE.at(problem.span, _MISSING, help=_help(document, facts))


def _help(document: Document, facts: Facts) -> str:
    from taskstate.model.older_sections import is_older, keys_without_front_matter

    if facts.file_type == "state" and any(then.front_matter for then in facts.past or ()):
        return facts.queries.damage() or "`taskstate doctor --fix` brings its last good text back"
    if facts.file_type != "state":
        return "`taskstate rule TS002` shows the keys that it needs"
    if is_older(document):
        path = typed_path(f"{facts.folder}/{facts.name}".lstrip("/"))
        return f"`taskstate migrate {path}` brings a file of an older form into the present one"
    if not document.text.strip():
        return "`taskstate doctor --fix` brings its last good text back, if it ever had one"
    key = keys_without_front_matter(document)
    if key is None:
        return "`taskstate rule TS002` shows the keys that it needs"
    line = document.position(key).line  # counted from 0: the number of the line above
    if line and document.text[:key].rstrip("\r\n").endswith("---"):
        fence = ", and the end of the code fence around it" if "```" in document.text[:key] else ""
        return f"the front matter begins in line {line}: delete what is above it{fence}"
    return f"write a line `---` above `taskstate:` in line {line + 1}"
