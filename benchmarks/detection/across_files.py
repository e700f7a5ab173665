"""Damages of archives, handoffs and progress files, and of whole files: removed, copied, renamed."""

from __future__ import annotations

from benchmarks.detection.damages import Damage, swap

DAMAGES = [
    Damage("an archived session is edited", "archive", "TS407", swap("wrote test 2", "did nothing"), "## Session 2"),
    Damage(
        "an archived session is removed",
        "archive",
        "TS407",
        swap(r"^## Session 2 .*?(?=^## Session 3)", ""),
        "---",
    ),
    Damage("the last archived session is removed", "archive", "TS407", swap(r"^## Session 4 .*?(?=^---)", ""), "---"),
    Damage(
        "an archived session stands twice",
        "archive",
        "TS407",
        swap(r"(^## Session 2 .*?)(?=^## Session 3)", r"\1\1"),
        "## Session",
    ),
    Damage(
        "an archived session gets another number",
        "archive",
        "TS407",
        swap("^## Session 2 ", "## Session 9 "),
        "## Session",
    ),
    Damage(
        "a session is written into the archive",
        "archive",
        "TS407",
        swap(r"^---\n\nArchived", "## Session 5 - 2026-11-20 10:00\n\nmore\n\n---\n\nArchived"),
        "## Session 5",
    ),
    Damage(
        "a session is written behind the archive",
        "archive",
        "TS407",
        swap(r"\Z", "\n## Session 5 - 2026-11-20 10:00\n\nmore\n"),
        "## Session 5",
    ),
    Damage("the trailer is cut off", "archive", "TS407", swap(r"^---\n\nArchived on.*\Z", ""), ""),
    Damage("a hash of the trailer is edited", "archive", "TS407", swap(r"^- 2: ....", "- 2: 0000"), "## Session 2"),
    Damage("a hash of the trailer is removed", "archive", "TS407", swap(r"^- 2: \w+\n", ""), "## Session 2"),
    Damage("the archive is cut in the middle", "archive", "TS407", swap(r"^## Session 3 .*\Z", "")),
    Damage("the archive has another task's title", "archive", "TS407 TS206 TS008", swap("#101", "#977")),
    Damage(
        "a conflict in the archive",
        "archive",
        "TS007",
        swap(r"^- wrote test 3\n", r"<<<<<<< HEAD\n\g<0>=======\n- other\n>>>>>>> theirs\n"),
        "<<<<<<<",
    ),
    Damage("the archive is empty", "archive", "TS407", lambda _: "", "### Archived", elsewhere="tool"),
    Damage(
        "the archive is deleted", "archive", "TS407 TS012", lambda _: None, "### Archived Summary", elsewhere="tool"
    ),
    Damage("a section of the handoff is lost", "handoff", "TS801", swap(r"^## What NOT.*?(?=^## Critical)", ""), "## "),
    Damage(
        "a section of the handoff is emptied",
        "handoff",
        "TS801",
        swap(r"(^## Key Decisions Made\n).*?(?=^## )", r"\1\n"),
        "## Key Decisions",
    ),
    Damage(
        "a section of the handoff is renamed", "handoff", "TS801", swap("## What NOT to Try", "## Dead Ends"), "## "
    ),
    Damage(
        "the handoff's sections are swapped",
        "handoff",
        "TS801",
        swap(r"(^## Critical Context\n.*?)(^## References\n.*)", r"\2\n\1"),
        "## ",
    ),
    Damage(
        "the next action is a list",
        "handoff",
        "TS802",
        swap("Let the worker take one job at a time.", "- Take one job.\n- Test it."),
    ),
    Damage(
        "the next action is several paragraphs",
        "handoff",
        "TS802",
        swap("Let the worker take one job at a time.", "Take one job.\n\nThen test it."),
    ),
    Damage(
        "the next action is empty",
        "handoff",
        "TS801 TS802",
        swap("Let the worker take one job at a time.\n\n", ""),
        "## Immediate",
    ),
    Damage("a decision without its reason", "handoff", "TS804", swap("a table, no broker: .*?$", "a table")),
    Damage("an approach without why it failed", "handoff", "TS804", swap("polling: .*?$", "polling")),
    Damage("a path that does not exist", "handoff", "TS805", swap(r"- `src/api\.py`", "- `src/worker.py`")),
    Damage(
        "the file to work on does not exist", "handoff", "TS805", swap(r"File: `src/api\.py`", "File: `src/worker.py`")
    ),
    Damage(
        "too much critical context",
        "handoff",
        "TS803",
        swap("(- the worker runs as a service)", r"\1\n- a\n- b\n- c\n- d\n- e\n- f"),
        "## Critical",
    ),
    Damage(
        "a handoff that is a book",
        "handoff",
        "TS803",
        swap("(- the worker runs as a service)", r"\1" + r"\n  and more" * 70),
        "# Phase",
    ),
    Damage("the handoff's front matter never closes", "handoff", "TS002", swap(r"^---\n(?=\n# Phase)", ""), "---"),
    Damage("the handoff's status that there is not", "handoff", "TS101", swap("^status: open", "status: finished")),
    Damage("the handoff loses its phase", "handoff", "TS101", swap("^phase: 1\n", ""), "---"),
    Damage("the handoff is of another phase", "handoff", "TS101 TS008 TS807", swap("^phase: 1$", "phase: 7")),
    Damage("the handoff is of another task", "handoff", "TS008 TS807 TS101", swap('^task_id: "103"', 'task_id: "101"')),
    Damage(
        "a time of the handoff in another form", "handoff", "TS103", swap('^created_at: ".*?"', "created_at: today")
    ),
    Damage(
        "a conflict in the handoff",
        "handoff",
        "TS007",
        swap(r"^- the worker runs[^\n]*\n", r"<<<<<<< HEAD\n\g<0>=======\n- other\n>>>>>>> theirs\n"),
        "<<<<<<<",
    ),
    Damage(
        "the handoff is accepted by hand",
        "handoff",
        "TS807",
        swap("^status: open", "status: accepted"),
        "handoffs:",
        elsewhere="phased",
    ),
    Damage("the open handoff is deleted", "handoff", "TS807", lambda _: None, "handoffs:", elsewhere="phased"),
    Damage(
        "a progress file that does not parse", "progress", "TS005", swap('"phase": 1,', '"phase": 1'), '"phase_name"'
    ),
    Damage("a progress file with a trailing comma", "progress", "TS005", swap(r"\}\n  \]", "},\n  ]"), "]"),
    Damage("a progress file that was cut off", "progress", "TS005", swap(r'  "current_objective.*\Z', ""), ""),
    Damage(
        "a status of a progress file that there is not",
        "progress",
        "TS309",
        swap('"status": "done"', '"status": "completed"'),
    ),
    Damage("a progress file without its name", "progress", "TS309", swap('  "phase_name": "[^"]*",\n', ""), "{"),
    Damage(
        "a progress file whose objective there is not",
        "progress",
        "TS309",
        swap('"current_objective": 2', '"current_objective": 7'),
    ),
    Damage("a progress file of another phase", "progress", "TS309", swap('"phase": 1,', '"phase": 4,')),
    Damage(
        "a progress file with a misspelt key",
        "progress",
        "TS309",
        swap('"approaches_tried"', '"approaches_tryed"'),
        "{",
    ),
    Damage(
        "a progress file with a time in words",
        "progress",
        "TS309",
        swap('"started_at": "[^"]*"', '"started_at": "monday"'),
    ),
    Damage(
        "an objective of a committed progress file is reworded",
        "progress",
        "TS307",
        swap("a table holds the jobs", "a file holds them"),
        history=True,
    ),
    Damage("the state file of an open task is deleted", "tool", "TS012", lambda _: None, history=True),
]
