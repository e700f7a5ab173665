"""One full and valid value for each schema: every key that it describes, once."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

_SHA256 = "19581e27de7ced00ff1ce50b2047e7a567c76b1cbaebabe5ef03f7c3017bb5b7"
_OBJECT = "4f2c1e9a77d0b3c58e6f4a1d2b9c8e7f6a5d4c3b"
_TIME = "2026-01-31T12:00:00Z"
_QA = {"tests": {"ok": True, "text": "8 passed"}}
_FILE = {"path": "src/a.py", "sha256": _SHA256}
_ROLE: dict[str, Any] = {
    "status": "done",
    "completed_at": _TIME,
    "qa": _QA,
    "qa_log_path": "artifacts/task-101/qa.log.gz",
    "qa_log_sha256": _SHA256,
    "session_id": None,
    "findings": [
        {"id": 1, "by": "reviewer", "text": "no test", "answer": "there is one now"},
        {"id": 2, "cleared_at": "2026-01-31T10:00:00Z"},
    ],
    "blocking_findings": ["the log is missing"],
    "drift_budget": 0,
}
_SNAPSHOT: dict[str, Any] = {
    "snapshot_time": _TIME,
    "actor": "implementer",
    "tree": _OBJECT,
    "index_tree": _OBJECT,
    "diff_sha": _SHA256,
    "diff_stat": "1 file changed",
    "scope_hash": "4b227777d4dd1fc6",
    "files_changed": ["M src/a.py", "? b.py"],
    "incremental_diff_sha": None,
    "incremental_diff_error": "the previous tree is gone",
    "pack": "artifacts/task-101/a.pack",
}
_COMPACT: dict[str, Any] = {
    "snapshot_time": _TIME,
    "head": _OBJECT,
    "start_tree": _OBJECT,
    "tree": _OBJECT,
    "diff_sha": _SHA256,
    "files_changed": ["M src/a.py", "? b.py"],
    "pack": "artifacts/task-101/validator/0123456789abcdef",
}

CONFIG = r"""
required-version = "0.1"
root = "state/"
exclude = ["tests/data/**"]
roles = ["author", "checker"]

[lint]
select = ["TS1", "TS404"]
ignore = ["TSP"]
extend-select = ["TS952"]
per-file-ignores = { "old/**" = ["TS4"] }
severity = { TS503 = "error", TS2 = "warning" }
require-command-evidence = true
append-only = "pushed"

[size]
warn-kb = 30
max-kb = 40
warn-tokens = 9000
max-tokens = 12000
keep-sessions = 3
max-sessions = 12

[[standards]]
area = "frontend"
priority = ["P0", "P3"]
cite = ["rules/web.md#forms"]

[[standards]]
cite = ["rules/all.md#names"]

[validation]
"*" = ["just check"]
frontend = ["npm test", "npm run lint"]

[validation-run]
timeout = 90

[scope]
web = ["web/**", "shared/web/**"]

[export.checker]
drop = ["baseline", "delta"]

[secrets]
allow = ['^EXAMPLE_[A-Z]+$']

[[qa]]
name = "speed"
pattern = 'took (?P<text>\d+ ms)'

[chain]
max-input-kb = 5

[coordination]
commits = "held"

[permanent]
writers = ["lead"]
require-ack = "interface"

[archive]
summarizer = "summarise --short"

[handoff]
max-lines = 40
max-kb = 2
minimum-progress = false

[query]
memory-mb = 512
threads = 2

[fleet]
out = "index"
jobs = 2
bucket-mb = 32
repository-seconds = 600
worker-mb = 1024
most-files = 1000
most-mb = 512

[autosave]
percent = 80
reserve = 12000
window = 0

[brief]
budget = 800
"""

SAMPLES: dict[str, Any] = {
    "config": tomllib.loads(CONFIG),
    "task": {
        "taskstate": 1,
        "kind": "task",
        "task_id": "101",
        "title": "JWT Service",
        "status": "in_progress",
        "agent": "backend-developer",
        "repository": "backend",
        "epic": "Login",
        "prd": "../2-planning/login.md",
        "priority": "P1",
        "area": "backend",
        "depends_on": ["9", "100"],
        "parent": "1",
        "subtasks": ["101.1"],
        "origin": {
            "system": "github",
            "id": "101",
            "source": "issues.json",
            "sha": "0123456789abcdef",
            "attached": "0" * 64,
        },
        "created_at": _TIME,
        "updated_at": _TIME,
        "revision": 14,
        "version": 2,
        "version_seal": "2-00000000-11111111-22222222-33333333-44444444",
        "sessions": {"total": 4, "archived": 2, "recent": 2},
        "file_size_kb": 6,
        "archive_path": None,
        "context": {
            "sealed_at": _TIME,
            "sealed_by": "task-runner",
            "task_file": "tasks/101.task.yaml",
            "task_file_sha": _OBJECT,
            "sources": [_FILE],
            "normalizer": "2.0.0",
            "serializer": "1.0.0",
            "seal": _SHA256,
        },
        "baseline": {
            "status": "recorded",
            "late": True,
            "recorded_at": _TIME,
            "results": _QA,
            "log": "a.log",
            "log_sha256": _SHA256,
        },
        "coordination": {"implementer": _ROLE, "reviewer": {"status": "pending"}, "validator": _ROLE, "tester": _ROLE},
        "delta": {
            "base_commit": _OBJECT,
            "base_tree": _OBJECT,
            "turn": {
                "role": "validator",
                "agent": "checker",
                "started_at": _TIME,
                "branch": "main",
                "head": _OBJECT,
                "tree": _OBJECT,
                "session": 4,
            },
            "left": {"tree": _OBJECT, "head": _OBJECT, "branch": "main", "start_tree": _OBJECT},
            "last_seen": {"reviewer": _OBJECT},
            "snapshots": {
                "implementer": _SNAPSHOT,
                "reviewer": _SNAPSHOT | {"files_changed": {"count": 21, "sha256": _SHA256}},
                "validator": _COMPACT,
            },
        },
        "evidence": [
            {"id": "E1", "type": "log", "path": "a.log", "lines": "12-40", "sha256": _SHA256, "added_at": _TIME}
        ],
        "handoffs": {"count": 1, "open": None},
        "output": {"completed_at": _TIME, "sha256": _SHA256, "files": [_FILE]},
        "acks": {"implementer": 2},
        "audit": {
            "updated_by": "implementer",
            "updated_at": _TIME,
            "update_count": 14,
            "git_head": None,
            "events": [
                {"at": _TIME, "actor": "lead", "event": "reopened", "note": "one case was missed", "files": 3},
                {"at": _TIME, "event": "role-done", "role": "reviewer", "diff_stat": "1 file", "diff_sha": _SHA256},
            ],
            "seal": _SHA256,
        },
        "x-own": {"any": ["thing", None, 1.5]},
    },
    "handoff": {
        "taskstate": 1,
        "kind": "handoff",
        "task_id": "101",
        "phase": 1,
        "created_at": _TIME,
        "from_agent": "implementer",
        "status": "accepted",
        "state_revision": 14,
        "accepted_by": "successor",
        "accepted_at": _TIME,
        "do_not_reread": ["docs/rfc7519.txt"],
        "verified": {
            "branch": "main",
            "git_head": _OBJECT,
            "tree": _OBJECT,
            "dirty_files": 2,
            "baseline": "pending",
            "sessions": 4,
            "objectives": "0123456789abcdef",
        },
    },
    "checklist": {
        "features": [
            {
                "id": "jwt-1",
                "description": "Tokens are signed",
                "passes": True,
                "tested_at": _TIME,
                "evidence": "8 passed",
                "notes": "with the current key",
                "moved_to": "102",
            },
            {
                "id": "jwt-2",
                "description": "Tokens expire",
                "passes": False,
                "tested_at": None,
                "evidence": {"command": "pytest", "exit_status": 1, "log_sha256": _SHA256, "tail": "8 passed"},
            },
            {
                "id": "jwt-3",
                "description": "Keys rotate",
                "passes": True,
                "tested_at": _TIME,
                "evidence": {"commit": "abc1234"},
            },
        ],
        "overall_progress": "50%",
    },
    "phase": {
        "phase": 1,
        "phase_name": "Token service",
        "started_at": _TIME,
        "last_updated": _TIME,
        "objectives": [
            {"id": 1, "description": "Issue tokens", "status": "done"},
            {"id": "verify", "description": "Verify tokens", "status": "in_progress", "note": "expiry is open"},
        ],
        "current_objective": "verify",
        "approaches_tried": [{"approach": "HS256 with a static key", "result": "failed: rotation impossible"}],
        "handoff_count": 1,
    },
    "citations": [
        {
            "content_sha": "a3f5b8c9d2e1f4a6",
            "file": "standards/backend.md",
            "line_span": "L42-L89",
            "requirement": "Handlers stay short",
            "section": "handlers",
        }
    ],
    "validation": {"commands": ["make lint", "make test"]},
    "impact-map": {
        "modules": [
            {"id": "auth", "paths": ["src/auth/**"], "depends_on": ["store"]},
            {"id": "store", "paths": [], "depends_on": [], "planned": True, "circle_allowed": True},
        ],
        "interfaces": [{"id": "token", "between": ["auth", "store"], "contract": "TokenPayload {userId, exp}"}],
        "ripple_paths": [{"id": "schema-change", "path": ["store", "auth"], "note": "a column reaches the payload"}],
    },
    "task-file": {
        "id": "TASK-0101",
        "title": "JWT Service",
        "agent": "ann",
        "repository": "api",
        "epic": "Login",
        "prd": "docs/login.md",
        "priority": "P1",
        "area": "backend",
        "depends_on": ["100"],
        "description": "Issue and verify tokens.",
        "scope": {"in": ["src/auth/**"], "out": None},
        "repository_paths": ["src/auth/**", ":mobile"],
        "features": [{"id": "jwt-1", "description": "makes a JWT"}],
        "acceptance_criteria": ["A token is issued"],
        "qa": {"commands": ["make test"]},
        "standards": [
            "standards/backend.md#handlers",
            {"file": "standards/backend.md", "section": "layers", "requirement": "No cycles"},
        ],
        "x-estimate": "3d",
    },
    "kind": {
        "kind": "task",
        "description": "An ordinary task.",
        "title": "# Task #{task_id}: {title} - State",
        "front_matter": "task",
        "placeholder": "*To be completed.*",
        "sections": [
            {
                "name": "Chain Output",
                "number": 6,
                "required": True,
                "description": "What is handed down.",
                "untouchable": False,
                "closed": True,
                "fence": {"schema": "checklist", "required": True},
                "must_be_filled": ["complete"],
                "some_filled": {"statuses": ["complete"], "of": ["Summary"]},
                "subsections": [
                    {
                        "name": "Summary",
                        "required": True,
                        "pattern": "sum.*",
                        "form": "Summary",
                        "fence": {"schema": "phase", "required": False},
                        "must_be_filled": ["complete"],
                    }
                ],
            }
        ],
    },
}
