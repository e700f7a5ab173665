"""A permanent task as text, for tests of its rules and merges."""

from __future__ import annotations

from taskstate.model.permanent import version_of, version_seal
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import set_front_matter
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply

PERMANENT_TEXT = """\
---
taskstate: 1
kind: permanent
task_id: "1"
title: Login platform
status: in_progress
created_at: "2026-02-08T09:00:00Z"
version: 3
file_size_kb: 2
acks: {ada: 3}
---

# [PERMANENT] Login platform - State

## 1. User Intent

- Users stay signed in for seven days on trusted devices

## 2. Codebase Impact Map

```json
{
  "modules": [
    {"id": "api", "paths": ["api/**"], "depends_on": ["core"]},
    {"id": "core", "paths": ["core/**"], "depends_on": []}
  ],
  "interfaces": [
    {"id": "tokens", "between": ["api", "core"], "contract": "verify(token) -> user"}
  ],
  "ripple_paths": []
}
```

## 3. Architecture Decisions

### AD-1: Sessions live in the database

**Status:** superseded by AD-2

**Decision:** A table of sessions.

**Rationale:** It is there.

### AD-2: Sessions live in a signed token

**Status:** accepted

**Supersedes:** AD-1

**Decision:** No table.

**Rationale:** One lookup less at every request.

## 4. Phase Status

- **Design:** done
- **Build:** not started

## 5. Constraints

- **Latency:** 200 ms
- No new database

## 6. Change Log

- v3 - 2026-02-08T12:00:00Z - lead - Architecture Decisions: AD-2 in the place of AD-1 [architecture change]
- v2 - 2026-02-08T10:00:00Z - lead - Constraints, Phase Status: latency
- v1 - 2026-02-08T09:00:00Z - lead - all: created
"""


def sealed_version(text: str) -> str:
    """Return the text with the seal of its version, as a command writes it."""
    state = read_state(parse(text))
    return apply(text, set_front_matter(state.document, "version_seal", version_seal(state, version_of(state))))
