"""Damages of the body: headings, the checklist, phases, sessions, and what editors and merges leave behind."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from benchmarks.detection.damages import Damage, behind, swap, swap_last

if TYPE_CHECKING:
    from collections.abc import Callable

_KEY = "AKIA" + "QYLPMN5HHHFPZAM2"  # in two pieces, since no file of the repository may look as if it held one
_TEXT = (
    "**What I did:**\n\n- more\n\n**Issues encountered:** None\n\n"
    "**Current state:** fine\n\n**Next steps:**\n\n- go on\n\n"
)


def _all(
    name: str, codes: str, change: Callable[[str], str | bytes], at: str = "", *, history: bool = False
) -> list[Damage]:
    """Return the same damage of the file that the tool wrote, and of the one written by hand."""
    return [Damage(name, file, codes, change, at, history) for file in ("tool", "hand")]


def _entry(number: int, heading: str = "### Session {} - {}") -> Callable[[str], str]:
    """Return the text of a session to put somewhere, with the time of the file's last one."""
    return lambda text: heading.format(number, _last_time(text)) + "\n\n" + _TEXT


def _last_time(text: str) -> str:
    return str(re.findall(r"^### Session \d+ - (.{16})", text, re.MULTILINE)[-1])


def _next_number(text: str) -> int:
    return max(int(number) for number in re.findall(r"^### Session (\d+)", text, re.MULTILINE)) + 1


def _appended(heading: str) -> Callable[[str], str]:
    """Return a change that appends a session at the end of the file, as agents do it."""
    return lambda text: text.rstrip("\n") + "\n\n" + _entry(_next_number(text), heading)(text)


def _logged(heading: str, body: str = _TEXT, step: int = 0) -> Callable[[str], str]:
    """Return a change that puts a session at the end of the log."""

    def change(text: str) -> str:
        entry = heading.format(_next_number(text) + step, _last_time(text)) + "\n\n" + body
        return text.replace("## 5. Git History", entry + "## 5. Git History", 1)

    return change


def _conflict(inner: str) -> str:
    return rf"<<<<<<< HEAD\n\g<0>=======\n{inner}>>>>>>> theirs\n"


def _swapped(text: str) -> str:
    parts = re.split(r"(?m)^(?=## )", text)
    parts[2], parts[3] = parts[3], parts[2]
    return "".join(parts)


def _cut_off(text: str) -> str:
    return text[: text.index("## 5. Git History")]


def _reversed_sessions(text: str) -> str:
    head, rest = text.split("## 4. Progress Log\n", 1)
    log, tail = rest.split("## 5. Git History", 1)
    parts = re.split(r"(?m)^(?=### )", log)
    sessions = [part for part in parts if part.startswith("### Session")]
    return (
        head
        + "## 4. Progress Log\n"
        + "".join(p for p in parts if p not in sessions)
        + "".join(sessions[::-1])
        + "## 5. Git History"
        + tail
    )


_HEADINGS = [
    damage
    for number, name in (
        ("2", "Chain Inputs"),
        ("3", "Feature Checklist"),
        ("4", "Progress Log"),
        ("6", "Chain Output"),
    )
    for damage in (
        *_all(f"the heading of {name} is lost", "TS201 TS207 TS209", swap(rf"^## {number}\. {name}\n\n", ""), "## "),
        *_all(
            f"no blank in the heading of {name}",
            "TS201 TS207 TS209",
            swap(rf"^## {number}\. {name}", f"##{number}. {name}"),
        ),
        *_all(
            f"the heading of {name} is bold text",
            "TS201 TS207 TS209",
            swap(rf"^## {number}\. {name}", f"**{number}. {name}**"),
        ),
        *_all(
            f"the heading of {name} has another level",
            "TS201 TS207 TS209",
            swap(rf"^## {number}\. {name}", f"### {number}. {name}"),
        ),
        *_all(
            f"a hard blank in the heading of {name}",
            "TS201 TS207 TS209",
            swap(rf"^## {number}\. {name}", f"##\u00a0{number}. {name}"),
        ),
        *_all(f"the heading of {name} in a quote", "TS207", swap(rf"^## {number}\. {name}", f"> ## {number}. {name}")),
        *_all(
            f"the heading of {name} in a comment",
            "TS207",
            swap(rf"^## {number}\. {name}", f"<!--\n## {number}. {name}\n-->"),
        ),
        *_all(
            f"the heading of {name} is indented", "TS207", swap(rf"^## {number}\. {name}", f"    ## {number}. {name}")
        ),
        *_all(
            f"the heading of {name} in small letters",
            "TS205",
            swap(rf"^## {number}\. {name}", f"## {number}. {name.lower()}"),
        ),
        *_all(
            f"the heading of {name} in other words",
            "TS209 TS201",
            swap(rf"^## {number}\. {name}", f"## {number}. {name.split()[0]}s"),
        ),
        *_all(
            f"a typing error in the heading of {name}",
            "TS209 TS201",
            swap(rf"^## {number}\. {name}", f"## {number}. {name[:3]}{name[4:]}"),
        ),
    )
]

DAMAGES = [
    *_HEADINGS,
    *_all("a section is deleted", "TS201", swap(r"^## 2\. Chain Inputs.*?(?=^## 3)", "")),
    *_all("the log is deleted", "TS201 TS405", swap(r"^## 4\. Progress Log.*?(?=^## 5)", "")),
    *_all("the checklist is deleted", "TS201 TS305", swap(r"^## 3\. Feature.*?(?=^## 4)", "")),
    *_all("two sections are swapped", "TS202", _swapped),
    *_all("a section stands twice", "TS203", behind("## 5. Git History", "\n## 4. Progress Log\n")),
    *_all("a section of one's own", "TS204", swap(r"^## 5\. Git", "## Ideas\n\nA cache.\n\n## 5. Git"), "## Ideas"),
    *_all("a remark in a heading", "TS205", swap(r"^## 4\. Progress Log", "## 4. Progress Log (append only)")),
    *_all("the title line is lost", "TS206", swap(r"^# Task #.*?\n\n", "")),
    *_all("the title line is reworded", "TS206", swap(r"^# Task #(\d+).*?$", r"# Task #\1: Another title - State")),
    *_all("a second title in the log", "TS206 TS411", _logged("# Session {} - {}")),
    *_all("the file ends in the middle", "TS201", _cut_off, "## 4. Progress Log"),
    *_all("the criteria's heading is lost", "TS208", swap(r"^### Acceptance Criteria\n\n", ""), "## 1. Static"),
    *_all(
        "the criteria's heading has another level", "TS208", swap(r"^### Acceptance", "#### Acceptance"), "## 1. Static"
    ),
    *_all(
        "the criteria's heading in other words",
        "TS208",
        swap(r"^### Acceptance Criteria", "### Criteria"),
        "## 1. Static",
    ),
    *_all(
        "the description is emptied",
        "TS208",
        swap(r"(^### Task Description\n\n)[^\n]+\n\n", r"\1"),
        "### Task Description",
    ),
    *_all("a criterion with empty brackets", "TS310", swap(r"^- \[ \] ", "- [] ")),
    *_all("a criterion without brackets", "TS310", swap(r"^- \[ \] ", "- ")),
    *_all("a criterion with a dash in brackets", "TS310", swap(r"^- \[ \] ", "- [-] ")),
    *_all("a criterion without a blank", "TS310", swap(r"^- \[ \] ", "- [ ]")),
    *_all(
        "a fence in a session never closes",
        "TS004",
        swap_last(r"^\*\*Current state:\*\*", "```text\nok\n\n**Current state:**"),
        "```text",
    ),
    *_all(
        "the checklist's fence never closes",
        "TS004 TS005",
        swap(r"^```\n(?=\n## 4|\n### Phase)", ""),
        "## 4. Progress Log | ```json",
    ),
    *_all("the checklist's fence never opens", "TS301 TS004", swap(r"^```json\n", "")),
    *_all("the checklist's fence has another word", "TS301", swap(r"^```json\n", "```js\n")),
    *_all("a trailing comma in the checklist", "TS005", swap(r"\n  \],\n", ",\n  ],\n")),
    *_all("single quotes in the checklist", "TS005", swap(r'"passes": false', "'passes': false")),
    *_all("a word of Python in the checklist", "TS005", swap(r'"passes": false', '"passes": False')),
    *_all("None in the checklist", "TS005", swap(r'"tested_at": null', '"tested_at": None')),
    *_all("a comment in the checklist", "TS005", swap(r'^  "features": \[\n', '  "features": [\n    // to do\n')),
    *_all("a missing comma in the checklist", "TS005", swap(r'"passes": false,', '"passes": false'), '"tested_at"'),
    *_all("a missing comma between features", "TS005", swap(r"\},\n(?= *\{)", "}\n"), "{"),
    *_all("a missing brace in the checklist", "TS005", swap(r"\}\n```", "```"), "{"),
    *_all("a quote missing in the checklist", "TS005", swap(r'"passes": false', '"passes: false')),
    *_all("smart quotes in the checklist", "TS005", swap(r'"passes": false', "“passes”: false")),
    *_all("a line break in a text of the checklist", "TS005", swap(r'("description": "\w+) ', r"\1\n")),
    *_all("a feature twice", "TS302", swap(r'"(jwt|limit)-2"', r'"\1-1"')),
    *_all("passes is a text", "TS301", swap(r'"passes": false', '"passes": "false"')),
    *_all("passes is a number", "TS301", swap(r'"passes": false', '"passes": 0')),
    *_all("passes is misspelt", "TS301", swap(r'"passes": false', '"pass": false')),
    *_all("a feature without a description", "TS301", swap_last(r'"description": "[^"]*",\s*', ""), "{"),
    *_all("a feature without an id", "TS301", swap_last(r'"id": "[^"]*",\s*', ""), "{"),
    *_all("a feature that passes without a time", "TS303", swap(r'"passes": false', '"passes": true')),
    *_all("a date for a time in the checklist", "TS301", swap(r'("tested_at": "\d{4}-\d\d-\d\d)[^"]*"', r'\1"')),
    *_all("a wrong progress", "TS304", swap(r'"overall_progress": "\d+%"', '"overall_progress": "90%"')),
    *_all("a progress that is a number", "TS301", swap(r'"overall_progress": "\d+%"', '"overall_progress": 50')),
    *_all("the list of features is a map", "TS301", swap(r'"features": \[.*\n  \],', '"features": {},')),
    *_all("a feature is removed", "TS305", swap(r',\s*\{[^{}]*-2"[^{}]*\}', ""), '"features"', history=True),
    *_all(
        "a feature is reworded",
        "TS305",
        swap_last(r'"description": "[^"]*"', '"description": "something easier"'),
        history=True,
    ),
    *_all("a feature gets another id", "TS305", swap(r'-2"', '-9"'), "{", history=True),
    *_all(
        "a feature fails again",
        "TS308",
        lambda t: swap(r'"\d+%"', '"0%"')(swap(r'"passes": true', '"passes": false')(t)),
        '"passes": false',
        history=True,
    ),
    Damage("a phase that does not parse", "phased", "TS005", swap(r'"phase": 1,', '"phase": 1'), '"phase_name"'),
    Damage("a phase's status that there is not", "phased", "TS306", swap(r'"status": "done"', '"status": "finished"')),
    Damage("a phase without a name", "phased", "TS306", swap(r'  "phase_name": "[^"]*",\n', ""), "{"),
    Damage(
        "a current objective that there is not",
        "phased",
        "TS306",
        swap(r'"current_objective": 2', '"current_objective": 7'),
    ),
    Damage(
        "an objective is removed",
        "phased",
        "TS307 TS306",
        swap(r',\n    \{"id": 2[^}]*\}', ""),
        '"objectives"',
        history=True,
    ),
    Damage(
        "an objective is reworded",
        "phased",
        "TS307",
        swap("a table holds the jobs", "a file holds the jobs"),
        history=True,
    ),
    Damage(
        "a phase is removed",
        "phased",
        "TS307",
        swap(r"^### Phase 1.*?```\n\n(?=## 4)", ""),
        "## 3. Feature",
        history=True,
    ),
    Damage(
        "a phase's heading in other words",
        "phased",
        "TS307 TS205 TS306",
        swap(r"^### Phase 1: The queue", "### The queue"),
        "## 3. Feature",
        history=True,
    ),
    *_all("a session without a number", "TS401", _logged("### Session - {1}")),
    *_all("a session with a number in words", "TS401", _logged("### Session four - {1}")),
    *_all("a session with half a number", "TS401 TS402", _logged("### Session 7.5 - {1}")),
    *_all("a session without a time", "TS403", _logged("### Session {}")),
    *_all("a session with a date only", "TS403", _logged("### Session {} - 2026-11-20")),
    *_all("a session at an hour that there is not", "TS403", _logged("### Session {} - 2026-11-20 25:70")),
    *_all("a session of yesterday", "TS403", _logged("### Session {} - yesterday")),
    *_all("a session in the future", "TS412", _logged("### Session {} - 2062-01-02 10:00")),
    *_all("a session before the last one", "TS403", _logged("### Session {} - 2020-01-02 10:00")),
    *_all("a session's number twice", "TS402", _logged("### Session {} - {}", step=-1)),
    *_all("a session's number left out", "TS402", _logged("### Session {} - {}", step=2)),
    *_all("the sessions stand newest first", "TS402", _reversed_sessions, "### Session"),
    *_all("a session is a date", "TS401", _logged("### {1}")),
    *_all("an update for a session", "TS401", _logged("### Update {1}")),
    *_all("a session at the end of the file", "TS411", _appended("### Session {} - {}"), "Session"),
    *_all("a session as a section at the end", "TS411", _appended("## Session {} - {}"), "## Session"),
    *_all("a session as a section in the log", "TS411", _logged("## Session {} - {}"), "## Session"),
    *_all("a session at level 4", "TS411", _logged("#### Session {} - {}"), "#### Session"),
    *_all("a session in bold", "TS411 TS404 TS401", _logged("**Session {} - {}**"), "**Session"),
    *_all(
        "a session without next steps",
        "TS404",
        _logged("### Session {} - {}", _TEXT.replace("**Next steps:**\n\n- go on\n\n", "")),
    ),
    *_all("a session with empty next steps", "TS404", _logged("### Session {} - {}", _TEXT.replace("- go on\n\n", ""))),
    *_all(
        "a session that goes nowhere",
        "TS406",
        _logged("### Session {} - {}", _TEXT.replace("\n\n- go on", " None")),
        "None",
    ),
    *_all("an empty session", "TS404", _logged("### Session {} - {}", "")),
    *_all("a session of one sentence", "TS404", _logged("### Session {} - {}", "Did some work on it.\n\n")),
    *_all(
        "labels that are headings",
        "TS404",
        _logged("### Session {} - {}", re.sub(r"\*\*(.*?):?\*\*", r"#### \1\n", _TEXT)),
    ),
    *_all(
        "labels that are headings of sessions",
        "TS401 TS404",
        _logged("### Session {} - {}", _TEXT.replace("**Current state:** fine", "### Current state\n\nfine")),
    ),
    *_all("labels in plain text", "TS404", _logged("### Session {} - {}", _TEXT.replace("**", ""))),
    *_all("labels in other words", "TS404", _logged("### Session {} - {}", _TEXT.replace("What I did", "Work done"))),
    *_all(
        "labels in a list",
        "TS404",
        _logged("### Session {} - {}", _TEXT.replace("**Current state:** fine", "- **Current state:** fine")),
    ),
    *_all(
        "a heading of level 3 in a session",
        "TS401",
        _logged("### Session {} - {}", _TEXT + "### Details\n\nmore\n\n"),
        "### Details",
    ),
    *_all(
        "a heading of level 2 in a session",
        "TS204 TS404",
        _logged("### Session {} - {}", _TEXT + "## Details\n\nmore\n\n"),
        "## Details",
    ),
    *_all(
        "a committed session is edited",
        "TS405",
        swap("wrote test 7|Sent 429 from the middleware", "did nothing"),
        "### Session",
        history=True,
    ),
    *_all(
        "a committed session's next steps are edited",
        "TS405",
        swap("begin part 9|Add the header", "Go home"),
        "### Session",
        history=True,
    ),
    *_all(
        "a committed session is removed",
        "TS405",
        swap(r"^### Session (?:7|1) - .*?(?=^### )", ""),
        "## 4. Progress Log",
        history=True,
    ),
    *_all(
        "the last session is removed",
        "TS405",
        swap(r"^### Session (?:8|2) - .*?(?=^## )", ""),
        "## 4. Progress Log",
        history=True,
    ),
    *_all(
        "a committed session's time is changed",
        "TS405",
        swap(r"^(### Session \d - )\d{4}", r"\g<1>2024"),
        "### Session",
        history=True,
    ),
    *_all(
        "a committed session loses its heading",
        "TS405",
        swap(r"^### Session (?:7|2) - .*?\n\n", ""),
        "### Session",
        history=True,
    ),
    *_all(
        "a session's body is emptied",
        "TS404 TS405",
        swap(r"(^### Session (?:8|2) - [^\n]*\n\n).*?(?=^## 5)", r"\1"),
        "### Session",
    ),
    *_all(
        "a conflict of two sessions",
        "TS007",
        _logged(
            "<<<<<<< HEAD\n### Session {} - {}",
            _TEXT + "=======\n### Session 9 - 2026-11-20 10:00\n\n" + _TEXT + ">>>>>>> theirs\n\n",
        ),
        "<<<<<<<",
    ),
    *_all(
        "a conflict in the checklist",
        "TS007",
        swap(r'^  "overall_progress[^\n]*\n', _conflict('  "overall_progress": "60%"\n')),
        "<<<<<<<",
    ),
    *_all(
        "a conflict in the front matter", "TS007", swap(r"^status: [^\n]*\n", _conflict("status: blocked\n")), "<<<<<<<"
    ),
    *_all("the end of a conflict is left", "TS007", _logged(">>>>>>> theirs\n\n### Session {} - {}"), ">>>>>>>"),
    *_all("the beginning of a conflict is left", "TS007", _logged("<<<<<<< HEAD\n\n### Session {} - {}"), "<<<<<<<"),
    *_all(
        "the middle of a conflict is left", "TS007", _logged("### Session {} - {}", _TEXT + "=======\n\n"), "======="
    ),
    *_all(
        "a conflict with its base",
        "TS007",
        swap(
            r"^status: [^\n]*\n",
            r"<<<<<<< ours\n\g<0>||||||| base\nstatus: created\n=======\nstatus: blocked\n>>>>>>> theirs\n",
        ),
        "<<<<<<<",
    ),
    *_all(
        "a byte of another encoding",
        "TS001",
        lambda t: t.replace("test", "t\u00e9st", 1).encode("latin-1", "replace"),
        "",
    ),
    *_all(
        "colours of a terminal",
        "TS006",
        _logged("### Session {} - {}", _TEXT.replace("- more", "- \x1b[31mfailed\x1b[0m")),
        "failed",
    ),
    *_all(
        "a character that turns the text",
        "TS006",
        _logged("### Session {} - {}", _TEXT.replace("- more", "- more \u202e txt")),
        "more",
    ),
    *_all("a NUL", "TS006", _logged("### Session {} - {}", _TEXT.replace("- more", "- mo\x00re")), "re"),
    *_all("an empty file", "TS002", lambda _: "", ""),
    *_all(
        "a key of AWS",
        "TS951",
        _logged("### Session {} - {}", _TEXT.replace("- more", "- used " + _KEY + " to deploy")),
        "used",
    ),
    *_all(
        "a long paste", "TS504", _logged("### Session {} - {}", _TEXT.replace("- more", "- more " + "word " * 1900)), ""
    ),
    *_all("a commit that there is not", "TS410", behind("## 5. Git History", "\n- `deadbee` - mend it\n"), "deadbee"),
    *_all("a task that is complete by hand", "TS901", swap("^status: in_progress$", "status: complete"), "[ ]"),
    Damage("the summary reaches too short", "tool", "TS407", swap(r"\(Sessions 1-4\)", "(Sessions 1-3)")),
    Damage("the summary reaches too far", "tool", "TS407 TS402", swap(r"\(Sessions 1-4\)", "(Sessions 1-6)")),
    Damage("the summary loses its numbers", "tool", "TS401 TS407", swap(r" \(Sessions 1-4\)", "")),
    Damage(
        "the summary is removed",
        "tool",
        "TS407 TS402",
        swap(r"^### Archived Summary.*?(?=^### Session 5)", ""),
        "## 4. Progress",
    ),
    Damage(
        "the summary stands twice",
        "tool",
        "TS401",
        swap(r"^### Session 5", "### Archived Summary (Sessions 1-4)\n\n**Duration:** short\n\n### Session 5"),
        "",
    ),
    Damage("a session of the archive is added again", "tool", "TS402 TS407", _logged("### Session 3 - {1}")),
]
