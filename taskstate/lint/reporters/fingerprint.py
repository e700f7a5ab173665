"""What tells a finding from all others, and is still the same after lines were added above it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taskstate.lint.diagnostics import Finding


def fingerprints(findings: Sequence[Finding]) -> list[str]:
    """Return a fingerprint for each finding: no two are alike, and neither lines nor columns count.

    It is made from the file, the rule and the words of the line. Where these agree, findings are numbered from the top.
    The message does not count, since it may quote a number that changes with every write.
    """
    from hashlib import sha256

    seen: Counter[tuple[str, str, str]] = Counter()
    made = []
    for finding in findings:
        key = (finding.path, finding.diagnostic.code, " ".join(finding.source.split()))
        parts = "\0".join((*key, str(seen[key])))
        seen[key] += 1
        made.append(sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()[:32])
    return made
