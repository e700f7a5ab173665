"""unused-ignore: a directive silences nothing.

## What

A comment `<!-- taskstate: ignore TS404 reason -->` (in the front matter `# taskstate: ignore TS104 reason`) silences
the findings of the named rules on the line below it, or in the whole code fence that begins there; `ignore-start` does
so down to `ignore-end`, and `ignore-file` in the whole file. This one names a rule that finds nothing there, a rule
that does not exist, or no rule at all; or it is no directive, although it looks like one: it stands behind other text,
it is written differently, or its range has no begin or no end. Rules that are not checked in this run (because they are
not selected, or need git, say) are not counted.

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
silence nothing, and the whole line where none is left; what is no directive it leaves alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.lint.diagnostics import Fix, Rule
from taskstate.lint.facts.outline import headings, verified_edits
from taskstate.lint.facts.wording import shown
from taskstate.syntax.edits import Edit

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from taskstate.lint.diagnostics import Diagnostic
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.lint.suppressions import Directive
    from taskstate.syntax.document import Document

RULE = Rule(
    code="TS010",
    name="unused-ignore",
    severity="warning",
    summary="a directive silences nothing",
    fixable=True,
)


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:  # noqa: ARG001 - every rule is called alike
    """Yield nothing: unused directives are known only after all other rules. The engine calls `unused` then."""
    yield from ()


def unused(document: Document, directive: Directive, idle: Collection[str], unknown: Collection[str]) -> Diagnostic:
    """Return the finding for a directive: its codes `idle` silence nothing, its codes `unknown` name no rule."""
    if directive.fault:
        return RULE.at(directive.span, directive.fault, help=directive.cure)
    if not directive.codes:
        message = "this directive names no rule"
    elif unknown:
        message = f"there is no rule {' or '.join(shown(code) for code in unknown)} to silence"
    else:
        message = f"nothing here is silenced by ignoring {' and '.join(idle)}"
    wrong = {*idle, *unknown}
    return RULE.at(
        directive.span,
        message,
        help="take it away, or put it directly above the fault: `<!-- taskstate: ignore CODE reason -->`",
        fix=_fix(document, directive, wrong) if directive.codes else None,
    )


def _fix(document: Document, directive: Directive, wrong: Collection[str]) -> Fix | None:
    # Removing the line may change how the text next to it is parsed: the headings must stay the same.
    edits = verified_edits(document, _edits(document, directive, wrong), headings(document.sections))
    return Fix(edits=edits) if edits else None


def _edits(document: Document, directive: Directive, wrong: Collection[str]) -> tuple[Edit, ...]:
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
