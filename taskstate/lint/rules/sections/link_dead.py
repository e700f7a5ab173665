"""link-dead: a link that came since the compared revision leads nowhere.

## What

The file has a Markdown link to a path, and nothing is there: neither from the file's own folder nor from the
repository's root. Only links count that the compared revision (HEAD, or `--against REV`) does not have: what older
text links to may have been moved since. Not checked are addresses, anchors, Notes, links in code, and new files. A link
to an archive is left to TS407.

## Why

Whoever follows the link finds nothing, and does not know whether something was moved, forgotten or mistyped.

## Example

```markdown
The design is [in its own page](../../docs/desing.md).
```

## Instead

```markdown
The design is [in its own page](../../docs/design.md).
```
"""

from __future__ import annotations

import posixpath
import re

from taskstate.lint.diagnostics import WARNING, Diagnostics, Rule
from taskstate.lint.facts.session_history import comparable
from taskstate.lint.facts.wording import shown
from taskstate.model.names import own_type
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS210", __name__, "a link that came since the compared revision leads nowhere", severity=WARNING)

_LINK = r"(?<!!)\[[^\[\]\r\n]*\]\((?P<path>(?![a-z][a-z0-9+.-]*:|[#/<])[^()\s#?]*[^()\s#?/])(?:[#?][^()\s]*)?\)"


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each such link, at its path."""
    document, past = facts.document, comparable(facts)
    free = [block.span for block in document.blocks if block.kind != "heading"] if past else []
    free += [placed.section.span for placed in facts.outline.present if placed.spec.untouchable] if past else []
    for match in re.compile(_LINK).finditer(document.text) if past else ():
        path, at = match["path"], match.start()
        in_code = document.text.count("`", document.text.rfind("\n", 0, at) + 1, at) % 2 == 1
        is_old = any(match[0] in then.document.text for then in past)
        if in_code or is_old or any(span.start <= at < span.end for span in free) or own_type(path) == "archive":
            continue
        places = {posixpath.normpath(posixpath.join(folder, path)) for folder in (facts.folder, "")}
        if {facts.queries.exists(each) for each in places if not each.startswith("..")} == {False}:
            place = Span(*match.span("path"))
            yield RULE.at(place, f"{shown(path)} does not exist", help="correct the path, or remove the link")
