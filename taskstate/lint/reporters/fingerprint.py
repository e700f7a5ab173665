"""Computes fingerprints of findings that stay the same when lines are added above, so that programs recognise them."""

from __future__ import annotations

from collections import Counter

from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taskstate.lint.diagnostics import Finding


def fingerprints(findings: Sequence[Finding]) -> list[str]:
    """Return a unique fingerprint for each finding, independent of line and column.

    It is a hash of the file, the rule and the words of the line; findings with the same of these are numbered from the
    top. The message is left out, since it may quote a number that changes with every write.
    """
    from hashlib import sha256

    seen: Counter[tuple[str, str, str]] = Counter()
    hashes = []
    for finding in findings:
        key = (finding.path, finding.diagnostic.code, " ".join(finding.source.split()))
        parts = "\0".join((*key, str(seen[key])))
        seen[key] += 1
        hashes.append(sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()[:32])
    return hashes
