"""Prints every message of the linter with its cure, one line for each finding of the lint corpus, to be read through.

`python -m scripts.messages [CODE ...]`: who reads them knows nothing else, is in a hurry, and does what the cure says.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from taskstate.lint import engine
from taskstate.syntax.document import parse
from tests.support.lint_corpus import Case, cases

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.diagnostics import Finding


def messages(codes: tuple[str, ...]) -> Iterator[str]:
    """Yield a line for each finding of the cases whose rule begins with one of the codes; equal ones only once."""
    seen = set()
    for case in cases():
        for finding in _findings(case):
            diagnostic = finding.diagnostic
            words = (diagnostic.code, diagnostic.message, diagnostic.help)
            if diagnostic.code.startswith(codes) and words not in seen:
                seen.add(words)
                mark = f"{diagnostic.severity[0]}{'F' if diagnostic.fix else ''}"
                yield f"{diagnostic.code} {mark:2} {case.id}:{finding.line}: {diagnostic.message} -> {diagnostic.help}"


def _findings(case: Case) -> tuple[Finding, ...]:
    if case.gone:
        return engine.findings_as("removed", parse(case.text or ""), case.name, case.config, case.queries)
    return engine.findings(case.data, case.name, case.config, case.queries)


def main() -> int:
    """Print the messages of the rules that the arguments name, or of all."""
    print("\n".join(sorted(messages(tuple(sys.argv[1:]) or ("TS",)))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
