"""Makes files in which nothing is wrong, in all the styles that the format allows, with any Markdown inside."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SEED = 20260131
_FOREIGN = (
    "| route | time |\n| :--- | ---: |\n| `/login` | 12 ms |",
    "1. first\n   - nested\n     1. deeper\n2. second",
    "> a quote\n> of two lines\n>\n> - with a list",
    "```diff\n@@ -1,2 +1,2 @@\n-## 4. Progress Log\n+### Session 9\n```",
    '~~~~md\n```json\n{"features": [}\n```\n## 1. Static Context\n~~~~',
    "```yaml\n---\ntitle: a: b\n---\n```",
    "<details>\n<summary>Log</summary>\n\nmany lines\n\n</details>",
    "<!-- a remark\n## 3. Feature Checklist\n-->",
    "A line with two blanks at its end  \nand [a link](https://example.org/a_(b)) and ![a picture](a.png).",
    "Übergrößenträger, 日本語, naïve — “quoted” … and an emoji 🙂.",
    "- [ ] a task of a list\n- [x] one that is done\n\n  with a paragraph",
    "    four columns of code\n    ## 2. Chain Inputs",
    "Term[^1] with a note.\n\n[^1]: The note: it has a colon.",
    "a < b && c > d, `a | b`, 50 % of #42, @somebody, *emphasis* and __strong__ text",
    "***\n\nbetween two breaks\n\n***",
    "[ref]: https://example.org 'Title'\n\nSee [ref].",
    "$$\nx = \\frac{a}{b}\n$$",
    "http://example.org/a?b=c&d=%20e#f",
)
_TITLES = (
    ("Tokens for the login", "Tokens for the login"),
    ('"Login: the second attempt"', "Login: the second attempt"),
    ("'The user''s page'", "The user's page"),
    ('"#101 again"', "#101 again"),
    ("Größe und Maß — 日本", "Größe und Maß — 日本"),
)
_LABELS = ("**{}:**", "**{}**:", "__{}:__", "__{}__:")


def files(count: int) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of state files."""
    random = Random(SEED)  # noqa: S311 - reproducible on purpose
    for number in range(1, count + 1):
        text = _state(random, number)
        if random.random() < 1 / 8:
            text = text.replace("\n", "\r\n")
        data = text.encode()
        yield f"task-{number}-state.md", b"\xef\xbb\xbf" + data if random.random() < 1 / 16 else data


def _state(random: Random, number: int) -> str:
    quoted, title = random.choice(_TITLES)
    sessions = "\n\n".join(_session(random, each) for each in range(1, random.randint(2, 6)))
    own = (
        ""
        if random.random() < 1 / 2
        else "\n\n## Notes\n\n### Any heading\n\n" + _some(random) + "\n\n#### Even this one"
    )
    history = random.choice(("", "## 5. Git History\n\n- see `git log`\n\n"))
    return (
        f"---\n{_front_matter(random, number, quoted)}---\n\n# Task #{number}: {title} - State\n\n"
        f"## 1. Static Context\n\n### Task Description\n\n{_some(random)}\n\n"
        f"### Acceptance Criteria\n\n{random.choice(('- [x] It works', '* [ ] It works', '- [X] It works'))}\n\n"
        f"## 2. Chain Inputs\n\n{random.choice(('None.', ''))}\n\n## 3. Feature Checklist\n\n{_checklist(random)}\n\n"
        f"## 4. Progress Log\n\n{sessions}\n\n{history}## 6. Chain Output\n\n*To be completed.*{own}\n"
    )


def _front_matter(random: Random, number: int, title: str) -> str:
    """Return the keys, in the styles in which people, editors and tools write YAML."""
    identity = random.choice((f'"{number}"', f"'{number}'", str(number)))
    lines = ["taskstate: 1", f"task_id: {identity}", f"title: {title}"]
    lines.append(random.choice(("status: in_progress", 'status: "in_progress"', "status: blocked  # waits")))
    if random.random() < 1 / 2:
        lines.append(random.choice(("priority: P1", "priority: P2 # later", "priority: 'P0'")))
    lines.append('created_at: "2026-01-02T08:00:00Z"')
    lines.append(random.choice(('updated_at: "2026-01-20T08:00:00Z"', "updated_at: '2026-01-20T08:00:00Z'")))
    if random.random() < 1 / 3:
        own = ("x-own: {a: 1, b: [2, 3]}", "x-own:\n  - a\n  - b: c", "x-own: |\n  any: text\n  - at all")
        lines.append(random.choice(own))
    return "\n".join(lines) + "\n"


def _checklist(random: Random) -> str:
    count = random.randint(1, 5)
    passing = random.randint(0, count)
    features = [
        {
            "id": f"part-{each}",
            "description": random.choice(("it works", 'a "quote" and a \\ backslash', "日本語", "x" * 300)),
            "passes": each <= passing,
            "tested_at": "2026-01-10T10:00:00Z" if each <= passing else None,
        }
        for each in range(1, count + 1)
    ]
    value = {"features": features, "overall_progress": f"{100 * passing // count}%"}
    written = json.dumps(value, indent=random.choice((None, 1, 2, 4)), ensure_ascii=random.random() < 1 / 2)
    marks = random.choice(("```", "````", "~~~"))
    return f"{marks}json\n{written}\n{marks}"


def _session(random: Random, number: int) -> str:
    label = random.choice(_LABELS)
    heading = f"### Session {number} - 2026-01-{number + 2:02d} 1{number % 10}:30"
    did = f"{label.format('What I did')}\n\n- wrote part {number}\n\n{_some(random)}"
    issues = f"{label.format('Issues encountered')} {random.choice(('None', 'it was slow'))}"
    state = f"{label.format('Current state')}\n\n{_some(random)}"
    steps = f"{label.format('Next steps')}\n\n- begin part {number + 1}"
    return f"{heading}\n\n{did}\n\n{issues}\n\n{state}\n\n{steps}"


def _some(random: Random) -> str:
    return "\n\n".join(["Some words.", *random.sample(_FOREIGN, random.randint(1, 3))])
