"""unused-ignore: a directive silences nothing.

## What

A comment `<!-- taskstate: ignore TS404 reason -->` (in the front matter `# taskstate: ignore TS104 reason`) silences
the findings of the rules it names on the line below it, or in the whole code fence that begins there. This one names a
rule that finds nothing there, a rule that does not exist, or no rule at all. A rule that is not checked in this run
(not selected, or for want of git, say) is not counted as silent.

## Why

A directive that is left behind when its fault is mended silences the next fault at the same place, which nobody has
looked at.

## Example

```markdown
<!-- taskstate: ignore TS204 ours -->
## 2. Chain Inputs
```

## Instead

Take the comment away, or put it on the line directly above the fault that it is meant for. `--fix` takes away the
codes that silence nothing, and the whole line where none is left.
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
    """Yield nothing: what is silent is known when all other rules have spoken; `unused` speaks then."""
    yield from ()


def unused(document: Document, directive: Directive, idle: Collection[str], unknown: Collection[str]) -> Diagnostic:
    """Return the finding for a directive of which the codes `idle` silence nothing and `unknown` name no rule."""
    if not directive.codes:
        what = "this directive names no rule"
    elif unknown:
        what = f"there is no rule {' or '.join(shown(code) for code in unknown)} to silence"
    else:
        what = f"nothing here is silenced by ignoring {' and '.join(idle)}"
    wrong = {*idle, *unknown}
    return RULE.at(
        directive.span,
        what,
        help="take it away, or put it directly above the fault: `<!-- taskstate: ignore CODE reason -->`",
        fix=_fix(document, directive, wrong) if directive.codes else None,
    )


def _fix(document: Document, directive: Directive, wrong: Collection[str]) -> Fix | None:
    edits = _edits(document, directive, wrong)
    kept = verified_edits(document, edits, headings(document.sections))
    return Fix(edits=kept) if kept else None


def _edits(document: Document, directive: Directive, wrong: Collection[str]) -> tuple[Edit, ...]:
    if all(code in wrong for code, _ in directive.codes):
        return (Edit(*directive.lines, ""),)
    found = []
    for code, span in directive.codes:
        if code in wrong:
            end = span.end
            while document.text[end : end + 1] in {" ", "\t", ","}:
                end += 1
            found.append(Edit(span.start, end, ""))
    return tuple(found)
