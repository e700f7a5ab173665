"""Makes the repository whose files are damaged: tasks of several kinds, written by the commands and by hand."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measurement import repository
from taskstate.__main__ import main

if TYPE_CHECKING:
    from collections.abc import Iterator

GIT = ("git", "-c", "user.name=bench", "-c", "user.email=bench@example.org", "-c", "commit.gpgsign=false")
TASKS = ".taskstate/tasks"
_LONG = "read the header of each message and refused those without one; a test covers both"
_BY_HAND = """\
---
taskstate: 1
task_id: "205"
title: Rate limits for the public API
status: in_progress
created_at: "2026-01-05T09:00:00Z"
updated_at: "2026-01-09T17:30:00Z"
---

# Task #205: Rate limits for the public API - State

## 1. Static Context

### Task Description

Every client gets a budget of requests per minute.

### Acceptance Criteria

- [x] A client over its budget gets 429
- [ ] The budget is configured per client

## 2. Chain Inputs

None.

## 3. Feature Checklist

```json
{
  "features": [
    {
      "id": "limit-1",
      "description": "A token bucket for each client",
      "passes": true,
      "tested_at": "2026-01-08T11:00:00Z",
      "evidence": "4 tests pass"
    },
    {
      "id": "limit-2",
      "description": "429 with a Retry-After header",
      "passes": false,
      "tested_at": null
    }
  ],
  "overall_progress": "50%"
}
```

## 4. Progress Log

### Session 1 - 2026-01-05 09:30

**What I did:**

- Read `src/api.py` and wrote the bucket
- Tested it with two clients:

  ```console
  $ pytest -q
  4 passed
  ```

**Issues encountered:** None

**Current state:**

The bucket works.

**Next steps:**

- Send 429

### Session 2 - 2026-01-09 17:00

**What I did:**

- Sent 429 from the middleware

**Issues encountered:**

- Retry-After needs whole seconds

**Current state:** Works without the header.

**Next steps:**

- Add the header

## 5. Git History

## 6. Chain Output

*To be filled on completion.*

## Notes

Somebody asked for a dashboard.
"""


def run(root: Path, *arguments: str) -> tuple[int, str]:
    """Run a command of taskstate in the repository, in this process; return its status and all that it printed."""
    printed = io.StringIO()
    before = Path.cwd()
    os.chdir(root)
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            status = main(arguments)
    finally:
        os.chdir(before)
    return status, printed.getvalue()


def git(root: Path, *arguments: str) -> str:
    """Run git in the repository, and return what it printed."""
    done = subprocess.run([*GIT, *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout


def make(folder: Path) -> Path:
    """Return the root of a new repository with all the tasks, committed."""
    root = repository(folder)
    (root / "src").mkdir()
    (root / "src/api.py").write_text("def limit():\n    return 10\n", encoding="utf-8")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "code")
    for arguments in _commands():
        status, printed = run(root, *arguments)
        if status:
            raise RuntimeError(f"{' '.join(arguments)}: {printed}")
    (root / TASKS / "task-205-state.md").write_text(_BY_HAND, encoding="utf-8")
    exported = root / ".taskstate/progress/task-103/phase-1-progress.json"  # where people keep what they export
    exported.parent.mkdir(parents=True)
    run(root, "phase", "export", "103", "1", "--output", str(exported.relative_to(root)))
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "tasks")
    return root


def _commands() -> Iterator[tuple[str, ...]]:
    """Yield the commands that make the tasks."""
    yield (
        *("new", "101", "--title", "Tokens for the login", "--description", "The login gives a signed token."),
        *("--criterion", "Tokens verify", "--criterion", "A stale token is refused", "--criterion", "Keys rotate"),
        *("--feature", "jwt-1=generateToken signs", "--feature", "jwt-2=verifyToken refuses stale tokens"),
        *("--feature", "jwt-3=keys rotate", "--priority", "P1", "--area", "backend"),
    )
    for number in range(1, 9):
        yield _session("101", number)
    yield ("feature", "pass", "101", "jwt-1", "--evidence", "12 tests pass")
    yield ("criterion", "check", "101", "1")
    yield ("archive", "101", "--keep", "4", "--force")
    yield (
        *("new", "102", "--title", "A page for the login", "--description", "People enter name and password."),
        *("--criterion", "A wrong password is refused", "--depends-on", "101", "--feature", "page-1=a form is shown"),
    )
    yield _session("102", 1)
    yield (
        *("new", "103", "--title", "Move the mails to a queue", "--description", "Mails are sent by a worker."),
        *("--criterion", "A mail that fails is sent again"),
    )
    yield (
        *("phase", "add", "103", "1", "--name", "The queue"),
        *("--objective", "a table holds the jobs", "--objective", "a worker takes them"),
    )
    yield ("phase", "set", "103", "1", "1", "--status", "done")
    yield ("phase", "set", "103", "1", "2", "--status", "in_progress")
    yield _session("103", 1)
    yield _session("103", 2)
    yield (
        *("handoff", "new", "103", "--action", "Let the worker take one job at a time.", "--file", "src/api.py"),
        *("--location", "line 2, in limit()", "--goal", "the test of the worker passes"),
        *("--decision", "a table, no broker: one service fewer to run", "--avoid", "polling: it locks the table"),
        *("--context", "the worker runs as a service", "--ref", "src/api.py"),
    )
    yield (
        "new",
        "104",
        "--title",
        "Names of the routes",
        "--description",
        "Plural names.",
        "--criterion",
        "No singular",
        "--feature",
        "route-1=routes are plural",
    )
    yield _session("104", 1)
    yield ("complete", "104", "--force", "--note", "done by the team before")


def _session(task: str, number: int) -> tuple[str, ...]:
    return (
        *("session", "add", task, "--did", f"step {number}: {_LONG}", "--did", f"wrote test {number}"),
        *("--issue", f"the fixture {number} was slow", "--state", f"{number} of 9 parts work"),
        *("--next", f"begin part {number + 1}"),
    )
