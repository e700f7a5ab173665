"""unused-ignore: a directive silences nothing.

## What

A comment `<!-- taskstate: ignore TS404 reason -->` (in the front matter `# taskstate: ignore TS104 reason`) silences
the findings of the named rules on the line below it, or in the whole code fence that begins there; `ignore-start` does
so down to `ignore-end`, and `ignore-file` in the whole file. This one names a rule that finds nothing there, a rule
that does not exist, or no rule at all; or it is not a directive, although it looks like one: it comes after other text,
it is written differently, or its range has no begin or no end. Rules that are not checked in this run (because they are
not selected, or need git, say) are not counted. Rules that guard what was committed (TS012, TS305, TS307, TS405, TS407,
TS606, TS607), and those of faults that hide a part (TS002 to TS005, TS007, TS009, TS201, TS207, TS209), can be silenced
in the configuration, and by no directive in the file that they guard.

## Why

A directive that stays after its fault was fixed silences the next fault at the same place, which nobody has looked at.
Who writes one that is none believes that its reason has been recorded.

## Example

```markdown
<!-- taskstate: ignore TS204 ours -->
## 2. Chain Inputs
```

## Instead

Remove the comment, or put it on the line directly above the fault that it is meant for. `--fix` removes the codes that
silence nothing, and the whole line where none is left; what is not a directive it leaves alone.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import Fix, Rule
from taskstate.lint.facts.outline import headings, verified_edits
from taskstate.lint.facts.wording import shown
from taskstate.lint.suppressions import GUARDS
from taskstate.syntax.edits import Edit
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from taskstate.lint.diagnostics import Diagnostics
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.lint.suppressions import Directive
    from taskstate.syntax.document import Document

RULE = Rule.of("TS010", __name__, "a directive silences nothing", severity="warning", fixable=True)

_HELP = "delete it, or put it directly above the fault it is for"
_OF_A_GUARD = "delete it; only the configuration can switch that off"
_MAX_TRIED = 10


def check(facts: Facts) -> Diagnostics:  # noqa: ARG001 - every rule is called alike
    """Yield nothing: unused directives are known only after all other rules. The engine calls `unused` then."""
    yield from ()


class Unused(NamedTuple):
    """A directive whose codes `idle` silence nothing, and whose codes `unknown` name no rule."""

    directive: Directive
    idle: Sequence[str]
    unknown: Sequence[str]

    @property
    def wrong(self) -> frozenset[str]:
        """The codes that can go."""
        return frozenset((*self.idle, *self.unknown))


def findings(document: Document, unused: Sequence[Unused]) -> Diagnostics:
    """Yield a finding for each unused directive, with a fix if taking it away leaves the headings as they are."""
    edits = [_edits(document, each) for each in unused]
    for each, fix in zip(unused, _verified(document, edits), strict=True):
        yield RULE.at(
            each.directive.span,
            _message(each),
            help=each.directive.cure or (_OF_A_GUARD if GUARDS & {*each.idle} else _HELP),
            fix=Fix(edits=fix) if fix else None,
        )


def _message(unused: Unused) -> str:
    if unused.directive.fault:
        return unused.directive.fault
    if not unused.directive.codes:
        return "this directive names no rule"
    if unused.unknown:
        return f"there is no rule {' or '.join(shown(code) for code in unused.unknown)} to silence"
    guards = [code for code in unused.idle if code in GUARDS]
    if guards:
        return f"no directive silences {' and '.join(guards)}: a file cannot switch off what guards its history"
    return f"nothing here is silenced by ignoring {' and '.join(unused.idle)}"


def _verified(document: Document, edits: Sequence[tuple[Edit, ...]]) -> Iterator[tuple[Edit, ...]]:
    """Yield the edits of each fix if the text may be changed so, else none.

    Removing a line may change how the text next to it is parsed, and parsing takes as long as all rules together. So
    the edits are tried at once, as `--fix` applies them; if that does not do, the first ones are tried one by one.
    """
    expected = headings(document.sections)
    at_once = verified_edits(document, tuple(edit for each in edits for edit in each), expected)
    for index, each in enumerate(edits):
        if at_once or not each:
            yield each
        else:
            yield verified_edits(document, each, expected) if index < _MAX_TRIED else ()


def _edits(document: Document, unused: Unused) -> tuple[Edit, ...]:
    directive, wrong = unused.directive, unused.wrong
    if not directive.codes:
        return ()
    if all(code in wrong for code, _ in directive.codes):
        return tuple(Edit(*line, "") for line in directive.lines)
    edits = []
    for code, span in directive.codes:
        if code in wrong:
            end = span.end
            while document.text[end : end + 1] in {" ", "\t", ","}:
                end += 1
            edits.append(Edit(span.start, end, ""))
    return tuple(edits)
