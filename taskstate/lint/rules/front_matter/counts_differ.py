"""counts-differ: `sessions` or `file_size_kb` do not agree with the file.

## What

`sessions` holds the number of all sessions, of the archived ones (those in the Archived Summary) and of those in the
Progress Log. `file_size_kb` is the size of the file in KB of 1,024 bytes, rounded up, with every line end counted as
one byte. Here one of them differs from the actual value. Both keys are optional.

## Why

Lists and boards show these numbers without reading the body, and archiving is planned with them. A wrong number does
not damage the text, so this is a warning; but where fewer sessions are there than the file counts, some are gone, and
that is an error, which no fix hides by lowering the number.

## Example

The Progress Log has three sessions, and nothing is archived:

```yaml
sessions: {total: 2, archived: 0, recent: 2}
```

## Instead

```yaml
sessions: {total: 3, archived: 0, recent: 3}
```

There is no need to count: `taskstate lint --fix` and every command that writes the file correct both. A file made by
hand may leave them out.
"""

from __future__ import annotations

from taskstate.errors import CannotEdit
from taskstate.lint.diagnostics import ERROR, WARNING, Diagnostics, Fix, Rule
from taskstate.model import derived_values
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document

RULE = Rule.of(
    "TS105", __name__, "`sessions` or `file_size_kb` do not agree with the file", severity=WARNING, fixable=True
)

_GONE = "`taskstate doctor --fix` brings them back; `taskstate doctor --let-go {}` accepts that"
_MISTYPED = "no committed session is missing: `taskstate doctor --let-go {}` corrects the numbers"
_HELP = "`--fix` corrects it, and so does every command that writes the file"


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each of the two values that is present and wrong."""
    document = facts.document
    if derived_values.COUNTS in facts.wrong_counts:
        recorded, actual = facts.values[derived_values.COUNTS], derived_values.session_counts(facts.state)
        total = recorded.get("total")
        is_short = isinstance(total, int) and total > actual.total
        is_mistyped = is_short and _was_mistyped(facts, recorded, actual.total)
        damage = facts.queries.damage() if is_short else ""
        gone = _MISTYPED if is_mistyped else f"sessions are gone: {damage or _GONE}"
        node = facts.front_matter.get(derived_values.COUNTS) if facts.front_matter else None
        wrong = [key for key, count in actual._asdict().items() if recorded.get(key) != count]
        keys = wrong[:1] if len(wrong) == 1 and node and node.style == "block" else []
        yield RULE.at(
            facts.value_span(derived_values.COUNTS, *keys),
            f"`sessions` says {_words(recorded)}; the body has {_words(actual._asdict())}",
            help=gone.format(facts.shown_id) if is_short else _HELP,
            fix=None if is_short else _fix(document, facts, derived_values.COUNTS),
            severity=ERROR if is_short else WARNING,
        )
    if derived_values.SIZE in facts.wrong_counts:
        yield RULE.at(
            facts.value_span(derived_values.SIZE),
            f"`file_size_kb` says {facts.values[derived_values.SIZE]}, and the file has {facts.state.size_kb} KB",
            help=_HELP,
            fix=_fix(document, facts),
        )


def _was_mistyped(facts: Facts, recorded: object, total: int) -> bool:
    """Return whether only the number was edited since the compared revision: what it counted then is still there."""
    earlier = [then.values.get(derived_values.COUNTS) for then in facts.past or ()]
    return bool(earlier) and all(
        isinstance(counts, dict) and counts != recorded and counts.get("total") == total for counts in earlier
    )


def _words(counts: dict[str, int]) -> str:
    return f"{counts['total']} in all, {counts['archived']} archived and {counts['recent']} in the log"


def _fix(document: Document, facts: Facts, *values: str) -> Fix | None:
    try:
        return Fix(edits=derived_values.fix_edits(document, facts.state, *values))
    except CannotEdit:
        return None
