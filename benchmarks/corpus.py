"""Generates a fixed corpus of state files: the same bytes for the same specification, on every machine.

The files look like real ones (front matter, checklist, sessions with lists, fences and code) and lint clean, except for
the size warning of files over 50 KB. They are written without any code of taskstate, since the corpus would otherwise
change with the code that it measures.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KB = 1024
SEED = 20240128
_FORM_EVERY = 40  # one in this many files contains HTML, which the fast scanner leaves to markdown-it-py
_CRLF_EVERY = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """What to generate: `files` files, evenly spread over `least` to `most` KB; `total` describes their sum."""

    name: str
    files: int
    least: float
    most: float
    total: str


C1 = Corpus(name="C1", files=1, least=74.5, most=74.5, total="75 KB")
C2 = Corpus(name="C2", files=1_000, least=12, most=48, total="30 MB")
C3 = Corpus(name="C3", files=5_000, least=3, most=17, total="50 MB")
C4 = Corpus(name="C4", files=20_000, least=3, most=17, total="200 MB")
CORPORA = {corpus.name: corpus for corpus in (C1, C2, C3, C4)}

_WORDS = """
the a its each every one no this request token route field service table index cache parser reader writer test build
module handler session user account order invoice payment report queue worker job event message schema migration
column row key value limit timeout error retry header body response client server endpoint page form button list
checks returns reads writes holds keeps drops sends takes gives fails passes waits starts ends runs moves adds splits
joins counts covers needs allows refuses logs measures before after while because where when with without under over
slow fast stale fresh broken empty large small first last new old missing duplicate nested shared local remote `null`
`Session` `id` `src/app.ts` `--force` `config.toml` 404 200 12 3 100 again twice now already only also still not yet
"""
_VOCABULARY = _WORDS.split()
_LABELS = ("added", "changed", "fixed", "checked", "measured", "removed", "documented", "moved", "renamed", "tried")
_CODE = (
    "def read(path: Path) -> str:\n    # what is not UTF-8 is refused\n    return path.read_text(encoding='utf-8')",
    "$ pnpm test\n\n  42 passing (3s)\n## coverage 91 %",
    "const token = await sign({ sub: user.id }, key);\nif (!token) {\n  throw new Error('no token');\n}",
    "diff --git a/src/app.ts b/src/app.ts\n@@ -1,4 +1,4 @@\n-const limit = 10;\n+const limit = 20;",
    "| route | time |\n| --- | --- |\n| /login | 12 ms |",
)
_LANGUAGES = ("python", "text", "ts", "diff", "")


def generate(corpus: Corpus, *, seed: int = SEED) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of a corpus's files."""
    random = Random(f"{seed} {corpus.name}")  # noqa: S311 - reproducible on purpose
    steps = max(corpus.files - 1, 1)
    order = random.sample(range(corpus.files), corpus.files)
    for number, rank in enumerate(order, 1):
        size = corpus.least + (corpus.most - corpus.least) * rank / steps
        text = state_file(random, number, size)
        if number % _CRLF_EVERY == 0:
            text = text.replace("\n", "\r\n")
        yield f"task-{number}-state.md", text.encode()


def write(corpus: Corpus, folder: Path) -> list[Path]:
    """Write a corpus into a folder, 500 files per subfolder, and return their paths."""
    paths = []
    for number, (name, data) in enumerate(generate(corpus)):
        path = folder / f"part-{number // 500:02}" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        paths.append(path)
    return paths


def state_file(random: Random, number: int, size: float) -> str:
    """Return a state file of about `size` KB; it ends with the session that reaches that size."""
    title = _sentence(random, 4, 8).rstrip(".").replace("`", "")
    head, tail = _head(random, number, title), _tail(random, number)
    sessions: list[str] = []
    used, limit = len(head) + len(tail) + 1400, size * KB
    while not sessions or used < limit:
        sessions.append(_session(random, len(sessions) + 1, room=limit - used))
        used += len(sessions[-1].encode()) + 1
    body = head + "\n".join(sessions) + tail
    return _front_matter(random, number, title=title, sessions=len(sessions), body=body) + body


def _front_matter(random: Random, number: int, *, title: str, sessions: int, body: str) -> str:
    baseline = {"status": "pending"}
    coordination = {
        "implementer": {"status": "in_progress", "blocking_findings": [], "drift_budget": 0},
        "reviewer": {"status": "pending", "blocking_findings": [], "drift_budget": 0},
        "validator": {"status": "pending", "blocking_findings": [], "drift_budget": 0},
    }
    head = _hexadecimal(random, 40)
    lines = [
        *("---", "taskstate: 1", f'task_id: "{number}"', f"title: {title}", "status: in_progress"),
        *(f"agent: {random.choice(['backend', 'frontend', 'data'])}-developer", "repository: shop"),
        *("epic: Customer accounts", f"priority: P{random.randrange(4)}", "area: backend"),
        *([f'depends_on: ["{number - 1}"]'] if number > 1 else []),
        *('created_at: "2024-01-01T08:00:00Z"', 'updated_at: "2024-03-01T08:00:00Z"', f"revision: {sessions + 3}"),
        f"sessions: {{total: {sessions}, archived: 0, recent: {sessions}}}",
        "file_size_kb: SIZE",
        "archive_path: null",
        "baseline: {status: pending}  # nothing was recorded yet",
        "coordination:",
        *(
            f"  {role}:\n    status: {each['status']}\n    blocking_findings: []\n    drift_budget: 0"
            for role, each in coordination.items()
        ),
        *(
            "audit:",
            "  updated_by: implementer",
        ),
        *(
            f'  git_head: "{head}"',
            f'  seal: "{_seal({"baseline": baseline, "coordination": coordination})}"',
            "---",
            "",
        ),
    ]
    text = "\n".join(lines) + "\n"
    return _sized(text, body)


def _sized(front_matter: str, body: str) -> str:
    """Return the front matter with `SIZE` replaced by the size of the whole file."""
    sized, size, needed = front_matter, 0, 1
    while size != needed:
        size = needed
        sized = front_matter.replace("SIZE", str(size), 1)
        needed = -(-len((sized + body).encode()) // KB)
    return sized


def _seal(blocks: object) -> str:
    canonical = json.dumps(blocks, sort_keys=True, ensure_ascii=False, indent=2) + "\n"
    return hashlib.sha256(canonical.encode()).hexdigest()


def _head(random: Random, number: int, title: str) -> str:
    """Return the body up to the Progress Log."""
    upstream = (
        f"### From Task #{number - 1}: {_sentence(random, 3, 5)[:-1]}\n\n{_quoted(random)}\n\n" if number > 1 else ""
    )
    return f"""\
# Task #{number}: {title} - State

## 1. Static Context

### Task Description

{_paragraphs(random, 3)}

### Scope

**In:**

- `src/app/**`
- `tests/app/**`

**Out:**

- `src/ui/**`

### Acceptance Criteria

{_criteria(random)}

### Validation

```json
{{
  "commands": ["pnpm lint", "pnpm test"]
}}
```

### Repository Paths

- `src/app/**`

## 2. Chain Inputs

{upstream}## 3. Feature Checklist

```json
{_checklist(random)}
```

## 4. Progress Log

"""


def _tail(random: Random, number: int) -> str:
    history = "\n".join(
        f"- `{_hexadecimal(random, 7)}` - {_sentence(random, 4, 9)[:-1]}" for _ in range(random.randint(1, 12))
    )
    odd = "\n<details>\n<summary>log</summary>\n\n# kept\n\n</details>\n"
    notes = odd if number % _FORM_EVERY == 0 else ""
    return f"""
## 5. Git History

{history}

## 6. Chain Output

### Summary

*To be completed.*

### Files Created/Modified

*To be completed.*

### API Contract

*To be completed.*

### Configuration Required

*To be completed.*

### Integration Notes for Downstream Tasks

*To be completed.*

## Notes

{_paragraphs(random, 2)}
{notes}"""


def _session(random: Random, number: int, *, room: float) -> str:
    """Return a session that ends with a single newline; a long one if there is enough space left."""
    minutes = number * 37
    time = f"2024-01-{2 + minutes // 1440 % 27:02} {minutes // 60 % 24:02}:{minutes % 60:02}"
    most = 7 if room > 4 * KB else 2
    did = "\n".join(_item(random) for _ in range(random.randint(1, most)))
    steps = "\n".join(f"- {_sentence(random, 5, 14)}" for _ in range(random.randint(1, 3)))
    issues = "None" if _happens(random, 60) else f"\n\n- {_sentence(random, 8, 20)}"
    commits = f"**Commits:**\n\n- `{_hexadecimal(random, 7)}`\n\n" if _happens(random, 40) else ""
    return f"""\
### Session {number} - {time}

**What I did:**

{did}

**Issues encountered:**{issues if issues.startswith(chr(10)) else " " + issues}

**Current state:**

- {_sentence(random, 10, 25)}

{commits}**Next steps:**

{steps}
"""


def _item(random: Random) -> str:
    first = f"- {random.choice(_LABELS)} {_sentence(random, 6, 22)}"
    if _happens(random, 12):
        return f"{first}\n\n  ```{random.choice(_LANGUAGES)}\n{_indented(random.choice(_CODE))}\n  ```\n"
    if _happens(random, 20):
        return "\n".join([first, *(f"  - {_sentence(random, 4, 12)}" for _ in range(random.randint(1, 3)))])
    return f"{first}\n  {_sentence(random, 6, 20)}" if _happens(random, 14) else first


def _indented(code: str) -> str:
    return "\n".join(f"  {line}" if line else "" for line in code.split("\n"))


def _criteria(random: Random) -> str:
    return "\n".join(f"- [{random.choice(' x')}] {_sentence(random, 5, 14)}" for _ in range(random.randint(2, 7)))


def _checklist(random: Random) -> str:
    features = []
    for number in range(1, random.randint(3, 16)):
        feature: dict[str, object] = {
            "id": f"f-{number}",
            "description": _sentence(random, 4, 12),
            "passes": _happens(random, 50),
        }
        feature["tested_at"] = "2024-02-01T10:00:00Z" if feature["passes"] else None
        if feature["passes"]:
            feature["evidence"] = f"pnpm test -t f-{number}: {random.randint(1, 40)} passed"
        features.append(feature)
    passing = sum(feature["passes"] is True for feature in features)
    return json.dumps({"features": features, "overall_progress": f"{100 * passing // len(features)}%"}, indent=2)


def _quoted(random: Random) -> str:
    return "\n".join(
        f"> {line}" if line else ">" for line in f"### Summary\n\n{_paragraphs(random, 1)}\n\n- `src/db.ts`".split("\n")
    )


def _paragraphs(random: Random, most: int) -> str:
    return "\n\n".join(
        " ".join(_sentence(random, 8, 24) for _ in range(random.randint(1, 4))) for _ in range(random.randint(1, most))
    )


def _sentence(random: Random, least: int, most: int) -> str:
    words = random.choices(_VOCABULARY, k=random.randint(least, most))
    return f"{' '.join(words)}.".capitalize() if words[0][0].isalpha() else f"{' '.join(words)}."


def _hexadecimal(random: Random, length: int) -> str:
    return f"{random.getrandbits(length * 4):0{length}x}"


def _happens(random: Random, percent: int) -> bool:
    return random.randrange(100) < percent
