"""Says what the keys of front matter and JSON mean to whoever merges or counts their values, wherever they occur."""

from __future__ import annotations

import json

BY_NAME = frozenset({"coordination", "snapshots", "last_seen", "acks", "qa", "results"})  # maps whose keys are names
# Values that are taken whole from one side: a mixture would be wrong.
WHOLE = frozenset(
    {"context", "baseline", "output", "path", "between", "turn", "left", "qa[]", "results[]", "evidence[]"}
)
# Counters: equal new numbers on both sides stand for two different writes or handoffs.
ADVANCING = frozenset({"revision", "update_count", "count", "handoff_count", "handoffs"})
# Recomputed after the merge.
DERIVED = frozenset({"sessions", "file_size_kb", "overall_progress", "seal", "version_seal"})
# What each write sets anew, or no write ever changes: it says nothing of what a text holds.
WRITTEN = (DERIVED | ADVANCING).difference({"handoffs", "handoff_count"}) | {
    *("taskstate", "task_id", "updated_at", "last_updated", "version", "audit", "archive_path"),
}


def item_key(item: object) -> str:
    """Return the key of a list item: its id, its citation, or its whole value."""
    if isinstance(item, dict):
        if "id" in item:
            return _text(item["id"])
        if {"file", "section"} <= item.keys():
            return _text([item["file"], item["section"]])
    return _text(item)


_ENCODER = json.JSONEncoder(sort_keys=True, default=repr)


def _text(value: object) -> str:
    return _ENCODER.encode(value)
