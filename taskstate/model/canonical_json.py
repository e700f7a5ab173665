"""Canonical JSON and the hashes over it; the published format lets any program on any machine check a seal."""

from __future__ import annotations

import json
from json.encoder import encode_basestring as quoted

from taskstate.syntax import hashes
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

CANONICAL_VERSION = "1.0.0"
_LINE = "\n"
SEALED_KEYS = ("context", "baseline", "coordination", "delta", "evidence", "handoffs", "output", "acks")


def canonical_json(value: object) -> str:
    """Return `value` as JSON with sorted keys, literal UTF-8, two-space indent and one LF at the end."""
    return f"{_written(value, _LINE)}\n"


def _written(value: object, line: str) -> str:
    """Return a value as `json.dumps` does, which is slow where it indents; `line` is what begins a line."""
    if isinstance(value, str):
        return quoted(value)
    below = f"{line}  "
    if isinstance(value, dict):
        entries = [f"{below}{quoted(key)}: {_written(value[key], below)}" for key in sorted(value)]
        return f"{{{','.join(entries)}{line}}}" if entries else "{}"
    if isinstance(value, (list, tuple)):
        items = [f"{below}{_written(item, below)}" for item in value]
        return f"[{','.join(items)}{line}]" if items else "[]"
    return json.dumps(value)


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
