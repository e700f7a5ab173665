"""Canonical JSON and the hashes over it; the published format lets any program on any machine check a seal."""

from __future__ import annotations

import json

from taskstate.syntax import hashes
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

CANONICAL_VERSION = "1.0.0"
SEALED_KEYS = ("context", "baseline", "coordination", "delta", "evidence", "handoffs", "output", "acks")


def canonical_json(value: object) -> str:
    """Return `value` as JSON with sorted keys, literal UTF-8, two-space indent and one LF at the end."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, indent=2) + "\n"


def sha256(text: str) -> str:
    """Return the SHA-256 of a text's UTF-8 bytes, in hexadecimal."""
    return hashes.sha256(text.encode())


def audit_seal(front_matter: Mapping[str, object]) -> str:
    """Return the seal over the tool-written blocks of a front matter: those that are present, and the audit's events.

    They stand in one object under their own names, the events under `audit.events`.
    """
    sealed = {key: front_matter[key] for key in SEALED_KEYS if key in front_matter}
    audit = front_matter.get("audit")
    if isinstance(audit, dict) and "events" in audit:
        sealed["audit.events"] = audit["events"]
    return sha256(canonical_json(sealed))
