"""Generates a sample project to count tokens on: a task with a long task file, five standards and twelve sessions.

It has the same bytes on every machine, and sentences made from a few patterns, since only the lengths matter. Like the
corpus, it is written without any code of taskstate.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import textwrap
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

TASK = "824"
SEED = 20251112
TASK_LINES, STANDARDS, SESSIONS = 250, (100, 150, 200, 250, 300), 12
TASK_FILE = f"tasks/TASK-0{TASK}.task.yaml"
STATE_FILE = f".taskstate/tasks/task-{TASK}-state.md"
LOG = f"artifacts/task-{TASK}/baseline-qa.log.gz"
_AREAS = ("handlers", "storage", "testing", "interfaces", "releases")
_WIDTH = 120
_TITLE = "Settings keep their state across screens"
_PASSING = 5  # of nine features
_PATTERNS = (
    "The {adjective} {thing} keeps its {part} until the {other} has been {done}.",
    "A {thing} that is {done} twice must give the same {part} both times.",
    "Before a {thing} is {done}, check that the {part} of the {other} is {adjective}.",
    "No {thing} reads the {part} of another {other}; it asks the {thing} that owns it.",
    "When the {part} is missing, the {thing} says which {other} it expected and where.",
    "Each {thing} has one {adjective} {part}, and a test that fails without it.",
)
_WORDS = {
    name: words.split()
    for name, words in {
        "thing": "handler service request worker cache session store schema endpoint token queue screen",
        "other": "caller record client batch job module reader migration response account report page",
        "part": "header timeout identifier limit owner version key order state retry budget checksum",
        "adjective": "stable empty signed pending shared stale local nested bounded older newer complete",
        "done": "written validated retried closed measured rotated merged released parsed refused",
    }.items()
}
_COMMANDS = (
    "pnpm turbo run lint --filter=mobile",
    "pnpm turbo run typecheck --filter=mobile",
    "pnpm test --filter=mobile",
)
_CODE = """\
```ts
export function read(key: string): Result {
  const entry = store.get(key);
  return entry ?? missing(key);
}
```"""


def write(folder: Path) -> None:
    """Write the sample project into a folder."""
    for name, data in files().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def files() -> dict[str, bytes]:
    """Return the files of the sample project by their paths from its root."""
    random = Random(SEED)  # noqa: S311 - reproducible on purpose
    task = _task_file(random)
    standards = {
        f"standards/{area}.md": _standard(random, area, lines) for area, lines in zip(_AREAS, STANDARDS, strict=True)
    }
    log = _log(random)
    state = _state(random, task, standards, log)
    return {
        TASK_FILE: task.encode(),
        **{name: text.encode() for name, text in standards.items()},
        f".taskstate/{LOG}": gzip.compress(log.encode(), mtime=0),
        STATE_FILE: state.encode(),
    }


def _sentence(random: Random) -> str:
    words = {name: random.choice(choice) for name, choice in _WORDS.items()}
    return random.choice(_PATTERNS).format(**words)


def _paragraph(random: Random, sentences: int, *, indent: str = "", width: int = _WIDTH) -> str:
    text = " ".join(_sentence(random) for _ in range(sentences))
    return textwrap.fill(text, width, initial_indent=indent, subsequent_indent=indent)


def _description(random: Random) -> str:
    return "\n\n".join(_paragraph(random, 4) for _ in range(5))


def _task_file(random: Random) -> str:
    """Return a task file of `TASK_LINES` lines: first the parts that are captured from it, then its plan."""
    head = [
        f"id: TASK-0{TASK}",
        f"title: {_TITLE}",
        "priority: P1",
        "area: mobile",
        "description: |",
        *textwrap.indent(_description(random), "  ").split("\n"),
        "scope:",
        "  in:",
        *(f"    - mobile/src/{word}/**" for word in ("store", "screens/settings", "shared/forms")),
        "  out:",
        *(f"    - {path}" for path in ("backend/**", "mobile/src/screens/editor/**")),
        "acceptance_criteria:",
        *(f"  - {_sentence(random)}" for _ in range(8)),
        "qa:",
        "  commands:",
        *(f"    - {command}" for command in _COMMANDS),
        "plan:",
    ]
    lines = [*head]
    step = 0
    while len(lines) < TASK_LINES:
        step += 1
        lines += [f"  - step: {step}", f"    title: {_sentence(random)}", "    details: |"]
        lines += _paragraph(random, 3, indent="      ").split("\n")
        lines += ["    done_when:", *(f"      - {_sentence(random)}" for _ in range(3))]
    return "\n".join(lines[:TASK_LINES]) + "\n"


def _standard(random: Random, area: str, count: int) -> str:
    """Return a standard of exactly `count` lines."""
    lines = [f"# {area.capitalize()}", "", *_paragraph(random, 3).split("\n"), ""]
    section = 0
    while len(lines) < count:
        section += 1
        lines += [f"## {area.capitalize()} {section}", "", *_paragraph(random, 12).split("\n"), ""]
        lines += [*(f"- {_sentence(random)}" for _ in range(6)), "", *_CODE.split("\n"), ""]
    return "\n".join(lines[:count]) + "\n"


def _log(random: Random) -> str:
    """Return the log of the checks before the work began."""
    tests = [
        f"PASS mobile/src/{random.choice(_WORDS['thing'])}/{random.choice(_WORDS['part'])}.test.ts"
        f" ({random.randint(1, 900)} ms)"
        for _ in range(120)
    ]
    return (
        "\n".join(
            [
                f"$ {_COMMANDS[0]}",
                "0 problems",
                f"$ {_COMMANDS[1]}",
                "0 errors",
                f"$ {_COMMANDS[2]}",
                *tests,
                "Tests: 212 passed, 212 total",
            ]
        )
        + "\n"
    )


def _state(random: Random, task: str, standards: dict[str, str], log: str) -> str:
    """Return the state file: the captured static context, a checklist, an input, and the sessions."""
    sources = "\n".join(f'    - {{path: {name}, sha256: "{_sha(text)}"}}' for name, text in standards.items())
    sessions = "\n".join(_session(random, number) for number in range(1, SESSIONS + 1))
    return f"""\
---
taskstate: 1
kind: task
task_id: "{TASK}"
title: {_TITLE}
status: in_progress
priority: P1
area: mobile
created_at: "2025-11-12T08:00:00Z"
updated_at: "2025-11-14T18:00:00Z"
revision: 40
context:
  sealed_at: "2025-11-12T08:05:00Z"
  sealed_by: lead
  task_file: {TASK_FILE}
  task_file_sha: "{_blob_id(task)}"
  sources:
{sources}
  normalizer: "2.0.0"
  serializer: "1.0.0"
  seal: "{_seal(_static(task, standards))}"
baseline:
  status: recorded
  recorded_at: "2025-11-12T08:10:00Z"
  results:
    lint: {{ok: true, text: 0 problems}}
    typecheck: {{ok: true, text: 0 errors}}
    test: {{ok: true, text: 212 passed}}
  log: {LOG}
  log_sha256: "{_sha(log)}"
coordination:
  implementer: {{status: blocked, blocking_findings: [{json.dumps(_sentence(random))}], drift_budget: 0}}
  reviewer: {{status: pending, blocking_findings: [], drift_budget: 0}}
  validator: {{status: pending, blocking_findings: [], drift_budget: 0}}
---

# Task #{TASK}: {_TITLE} - State

## 1. Static Context

{_static(task, standards)}
## 2. Chain Inputs

### From Task #801: Forms share their fields

<!-- taskstate: input 801 r12 sha256:{_sha("801")[:16]} 2025-11-12T08:00:00Z -->

{_quoted(random)}

## 3. Feature Checklist

```json
{_checklist(random)}
```

## 4. Progress Log

{sessions}
## 5. Git History

*To be completed.*

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
"""


def _static(task: str, standards: dict[str, str]) -> str:
    """Return the parts of the static context, from the task file."""
    lines = task.split("\n")
    description = textwrap.dedent("\n".join(_under(lines, "description: |")))
    citations = [_citation(name, text) for name, text in sorted(standards.items())]
    parts = {
        "Task Description": description.strip(),
        "Scope": f"**In:**\n\n{_listed(_under(lines, '  in:'))}\n\n**Out:**\n\n{_listed(_under(lines, '  out:'))}",
        "Acceptance Criteria": _listed(_under(lines, "acceptance_criteria:"), "- [ ] "),
        "Standards": f"```json\n{json.dumps(citations, indent=2)}\n```",
        "Validation": f"```json\n{json.dumps({'commands': [*_COMMANDS]}, indent=2)}\n```",
        "Repository Paths": _listed(_under(lines, "  in:")),
    }
    return "".join(f"### {name}\n\n{text}\n\n" for name, text in parts.items())


def _under(lines: list[str], key: str) -> list[str]:
    """Return the lines of the task file that are indented below a key."""
    at = lines.index(key) + 1
    depth = len(key) - len(key.lstrip())
    end = next(number for number in range(at, len(lines)) if lines[number].strip() and _depth(lines[number]) <= depth)
    return lines[at:end]


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _listed(lines: Iterable[str], marker: str = "- ") -> str:
    return "\n".join(marker + line.strip().removeprefix("- ") for line in lines)


def _citation(name: str, text: str) -> dict[str, str]:
    lines = text.split("\n")
    start = next(number for number, line in enumerate(lines) if line.startswith("## "))
    end = next(number for number, line in enumerate(lines) if number > start and line.startswith("## ")) - 1
    while not lines[end - 1].strip():
        end -= 1
    return {
        "content_sha": _sha("\n".join(lines[start:end]))[:16],
        "file": name,
        "line_span": f"L{start + 1}-L{end}",
        "requirement": lines[start + 2][:140].rsplit(" ", 1)[0],
        "section": lines[start].removeprefix("## ").lower().replace(" ", "-"),
    }


def _quoted(random: Random) -> str:
    text = f"### Summary\n\n{_paragraph(random, 5)}\n\n### API Contract\n\n" + "\n".join(
        f"- {_sentence(random)}" for _ in range(4)
    )
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _checklist(random: Random) -> str:
    features = [
        {
            "id": f"set-{number}",
            "description": _sentence(random),
            "passes": number <= _PASSING,
            "tested_at": "2025-11-13T10:00:00Z" if number <= _PASSING else None,
        }
        for number in range(1, 10)
    ]
    for feature in features:
        if feature["passes"]:
            feature["evidence"] = f"{_COMMANDS[2]}: {random.randint(4, 40)} passed"
    return json.dumps({"features": features, "overall_progress": "55%"}, indent=2)


def _session(random: Random, number: int) -> str:
    did = "\n".join(f"- {_sentence(random)} {_sentence(random)}" for _ in range(4))
    steps = "\n".join(f"- {_sentence(random)}" for _ in range(2))
    return f"""\
### Session {number} - 2025-11-{12 + number // 5} {8 + number % 5 * 2:02}:00

**What I did:**

{did}

**Issues encountered:**

- {_sentence(random)}

**Current state:**

- {_sentence(random)} {_sentence(random)}

**Next steps:**

{steps}
"""


def _seal(static: str) -> str:
    """Return the seal of the static part."""
    sealed = {"area": "mobile", "priority": "P1", "static": static.strip(), "title": _TITLE}
    return _sha(json.dumps(sealed, ensure_ascii=False, indent=2) + "\n")


def _blob_id(text: str) -> str:
    data = text.encode()
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
