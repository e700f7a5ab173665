"""counts-differ: `sessions` or `file_size_kb` do not agree with the file.

## What

`sessions` holds how many sessions there are in all, how many of them are archived (those that the Archived Summary
stands for) and how many stand in the Progress Log. `file_size_kb` is the size of the file in KB of 1,024 bytes,
rounded up, line ends counted as one byte. Here they say something else than the file itself. Both keys may be left
out.

## Why

Lists and boards show these numbers without reading the body, and archiving is planned by them. A wrong one does no
harm to the text, so this is a warning.

## Example

The Progress Log has three sessions, and nothing is archived:

```yaml
sessions: {total: 2, archived: 0, recent: 2}
```

## Instead

```yaml
sessions: {total: 3, archived: 0, recent: 3}
```

Do not count: `taskstate lint --fix` and every command that writes the file put both right. A hand-made file may
simply do without them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.errors import CannotEdit
from taskstate.lint.diagnostics import WARNING, Diagnostic, Fix, Rule
from taskstate.model import derived_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document

RULE = Rule(
    code="TS105",
    name="counts-differ",
    severity=WARNING,
    summary="`sessions` or `file_size_kb` do not agree with the file",
    fixable=True,
)

_HELP = "`--fix` and every command that writes the file put it right"


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:
    """Yield a finding for each of the two that is there and wrong."""
    told = facts.values.get(derived_values.COUNTS)
    actual = derived_values.session_counts(facts.state)
    if (
        told is not None
        and facts.sessions_known
        and any(told.get(key) != count for key, count in actual._asdict().items())
    ):
        yield RULE.at(
            facts.value_span(derived_values.COUNTS),
            f"`sessions` says {_words(told)}; the body has {_words(actual._asdict())}",
            help=_HELP,
            fix=_mended(document, facts, derived_values.COUNTS),
        )
    size = facts.values.get(derived_values.SIZE)
    if size is not None and size != facts.state.size_kb:
        yield RULE.at(
            facts.value_span(derived_values.SIZE),
            f"`file_size_kb` says {size}, and the file has {facts.state.size_kb} KB",
            help=_HELP,
            fix=_mended(document, facts),
        )


def _words(counts: dict[str, int]) -> str:
    return f"{counts['total']} in all, {counts['archived']} archived and {counts['recent']} in the log"


def _mended(document: Document, facts: Facts, *values: str) -> Fix | None:
    try:
        return Fix(edits=derived_values.fix_edits(document, facts.state, *values))
    except CannotEdit:
        return None
