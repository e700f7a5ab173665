"""The table of error codes: the word by which a program tells one `TaskstateError` from another.

Type checkers alone read it, so that a mistyped code is found wherever an error is raised or compared: at run time
nothing of taskstate imports this module. A code stands in the first group that fits, and stays what it is: programs
rely on it. The formatter would give each word a line of its own, and nobody would see the table any more.
"""

from __future__ import annotations

from typing import Literal

# fmt: off
ErrorCode = Literal[
    # What was asked for: arguments, input, names.
    "ambiguous", "bad-id", "control-characters", "empty", "exists", "input", "invalid-input", "kind", "not-found",
    "not-a-person", "path", "path-escapes", "several-lines", "too-long", "unchanged", "unknown-kind", "usage",
    # Files, folders and the system.
    "bad-name", "binary", "cancelled", "command", "command-failed", "disk-full", "error", "fault", "file-name",
    "is-link", "lock", "lock-timeout", "missing-extra", "missing-program", "no-permission", "not-a-file", "not-utf8",
    "os-error", "port", "protocol", "read-only", "resource", "scheduler", "stale", "timeout", "too-large", "too-many",
    "unsaved", "watch",
    # The repository and git.
    "bare-repository", "config", "demo", "edit-conflict", "git", "newer-journal", "no-base", "no-commit",
    "no-git", "no-state-folder", "not-set-up", "partial-clone", "pending", "recover-conflict", "template", "unborn",
    "unknown-commit", "unstaged",
    # A state file, and what must not get lost in it.
    "archive-mismatch", "archived", "artifact-broken", "artifact-lost", "cannot-edit", "complete", "conflict",
    "damaged", "dropped", "duplicate-id", "invisible-text", "lost", "merge-conflict", "newer-format", "revision",
    "seal-broken", "secret", "section", "section-missing", "session-misplaced", "session-order", "stale-plan",
    "structure", "summarizer", "task-closed", "task-complete", "unreadable", "unsafe",
    # A turn, roles and the checklist.
    "all-done", "findings-open", "incomplete", "lint", "moved", "no-session", "no-turn", "not-complete", "not-started",
    "nothing-open", "regression", "role-order", "role-status", "tree-changed", "turn-changed", "turn-open",
    # The static context, the chain of tasks and handoffs.
    "context-exists", "handoff", "handoff-invalid", "handoff-open", "no-dependency", "no-handoff", "no-output",
    "no-progress", "not-sealed", "note",
    # Snapshots and QA.
    "bad-snapshot", "baseline-late", "baseline-recorded", "committed", "drift", "drift-unresolved", "lines",
    "log-unknown", "no-commands", "no-diff", "no-snapshot", "not-recorded", "nothing-to-resolve", "nothing-to-snapshot",
    "objects-lost", "task-file-changed", "under-way", "untrusted",
    # The permanent task and its Impact Map.
    "edited", "impact-map", "no-claim", "no-map", "no-permanent", "not-confirmed", "nothing-changed", "outdated",
    "referenced", "same-actor", "superseded", "version", "writer",
]
# fmt: on
