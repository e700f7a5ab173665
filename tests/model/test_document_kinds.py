from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from jinja2 import Environment, StrictUndefined

from taskstate import resources
from taskstate.errors import TaskstateError
from taskstate.model.document_kinds import (
    KINDS,
    Kind,
    SectionSpec,
    SubsectionSpec,
    built_in,
    kind_named,
    section_key,
)
from taskstate.model.names import ID_PATTERN, MAX_ID, id_key, is_id, own_file, parse_feature_id, parse_task_id
from taskstate.model.session_texts import ENTRY_FORM
from taskstate.syntax.document import Document, parse
from taskstate.validation import schema

if TYPE_CHECKING:
    from typing import Any

CHECKLIST = '{\n  "features": [],\n  "overall_progress": "0%"\n}'
EMPTY_TASK: dict[str, Any] = {
    "task_id": "101",
    "title": "JWT {Service}",
    "description": "",
    "scope_in": [],
    "scope_out": [],
    "criteria": [],
    "standards_json": "",
    "validation_json": "",
    "repository_paths": [],
    "chain_inputs": "",
    "checklist_json": CHECKLIST,
    "entry_form": ENTRY_FORM,
}
FULL_TASK = EMPTY_TASK | {
    "description": "First.\n\nSecond.",
    "scope_in": ["- `src/auth/**`", "- two\n  lines"],
    "scope_out": ["- `src/ui/**`"],
    "criteria": ["- [ ] a token is issued", "- [ ] it expires"],
    "standards_json": '[\n  {\n    "file": "a.md",\n    "requirement": "b",\n    "section": "c"\n  }\n]',
    "validation_json": '{\n  "commands": ["make test"]\n}',
    "repository_paths": ["- `src/auth/**`"],
    "chain_inputs": "### From Task #100: Schema\n\n> ### Summary\n>\n> Done.",
}
RENDERED = [
    pytest.param("task", EMPTY_TASK, id="task-empty"),
    pytest.param("task", FULL_TASK, id="task-full"),
]


def rendered(name: str, values: dict[str, Any]) -> str:
    """Return the body that the template of a kind gives."""
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True, autoescape=False)  # noqa: S701 - Markdown, no HTML
    return environment.from_string(resources.text(f"templates/{name}-state.md.j2")).render(**values)


def section(kind_name: str, title: str) -> SectionSpec:
    """Return a section that the kind has."""
    found = built_in(kind_name).section(title)
    assert found is not None
    return found


def subsection(within: SectionSpec, title: str) -> SubsectionSpec:
    """Return a subsection that the section has."""
    found = within.subsection(title)
    assert found is not None
    return found


def parts_of(found: Kind) -> list[SectionSpec | SubsectionSpec]:
    """Return the sections of a kind, each followed by its subsections."""
    parts: list[SectionSpec | SubsectionSpec] = []
    for each in found.sections:
        parts += [each, *each.subsections]
    return parts


def headings(document: Document, level: int) -> list[str]:
    """Return the titles of the headings of a level."""
    return [each.title for each in document.sections if each.level == level]


@pytest.mark.parametrize("name", KINDS)
def test_kinds_are_data_of_a_known_form(name: str) -> None:
    """The file of each kind meets the published schema for kinds."""
    declared = json.loads(resources.text(f"schemas/kinds/{name}.json"))
    assert schema.faults(declared, "kind") == ()
    assert declared["kind"] == name


@pytest.mark.parametrize("name", KINDS)
def test_what_kinds_refer_to_is_there(name: str) -> None:
    """Every schema that a kind names exists, every pattern compiles, and every group consists of subsections."""
    found = built_in(name)
    fences = [part.fence for part in parts_of(found) if part.fence]
    for wanted in [found.front_matter, *(fence.schema for fence in fences)]:
        assert schema.load(wanted)
    for each in found.sections:
        assert not each.some_filled or {*each.some_filled.of} <= {part.name for part in each.subsections}
        for part in each.subsections:
            assert bool(part.pattern) == bool(part.form)
            assert part.match("\n") is None


def test_the_sections_of_a_task() -> None:
    """A task has the sections of the format, in their order, of which 1 to 4 and 6 are required."""
    sections = built_in("task").sections
    assert [each.heading for each in sections] == [
        "## 1. Static Context",
        "## 2. Chain Inputs",
        "## 3. Feature Checklist",
        "## 4. Progress Log",
        "## 5. Git History",
        "## 6. Chain Output",
        "## Notes",
    ]
    assert [each.number for each in sections if each.required] == [1, 2, 3, 4, 6]
    assert [each.name for each in sections if each.untouchable] == ["Notes"]
    assert [each.name for each in sections if each.closed] == ["Progress Log"]
    required = [part.name for each in sections for part in each.subsections if part.required]
    assert required == ["Task Description", "Acceptance Criteria"]


def test_the_fences_of_a_task() -> None:
    """Each json fence stands in its own part and has its own schema."""
    assert {part.name: part.fence.schema for part in parts_of(built_in("task")) if part.fence} == {
        "Standards": "citations",
        "Validation": "validation",
        "Feature Checklist": "checklist",
        "Phase": "phase",
    }


def test_where_a_task_may_have_placeholders() -> None:
    """Work may not begin without description and criteria, nor be complete without summary and one more output part."""
    assert {part.name: part.must_be_filled for part in parts_of(built_in("task")) if part.must_be_filled} == {
        "Task Description": ("in_progress", "blocked", "complete"),
        "Acceptance Criteria": ("in_progress", "blocked", "complete"),
        "Summary": ("complete",),
    }
    output = section("task", "Chain Output")
    assert output.some_filled is not None
    assert output.some_filled.statuses == ("complete",)
    assert output.some_filled.of == tuple(part.name for part in output.subsections[1:])


def test_the_sections_of_the_permanent_task() -> None:
    """The permanent task has the sections of the format, in their order."""
    assert [each.heading for each in built_in("permanent").sections] == [
        "## 1. User Intent",
        "## 2. Codebase Impact Map",
        "## 3. Architecture Decisions",
        "## 4. Phase Status",
        "## 5. Constraints",
        "## 6. Change Log",
        "## Notes",
    ]


def test_there_is_no_other_kind() -> None:
    """A kind that does not exist is refused, with those that do."""
    with pytest.raises(TaskstateError, match="task, permanent") as caught:
        built_in("epic")
    assert caught.value.code == "unknown-kind"


@pytest.mark.parametrize(
    ("value", "name"),
    [(None, "task"), ("task", "task"), ("permanent", "permanent"), ("epic", "task"), (1, "task"), ([], "task")],
    ids=repr,
)
def test_kind_named(value: object, name: str) -> None:
    """The front matter names the kind; where it does not, or nothing known, the file is an ordinary task."""
    assert kind_named(value, ()).name == name


def test_title_line() -> None:
    """The title line is made of id and title, whatever characters they have."""
    assert built_in("task").title_line(task_id="101", title="a {b} {task_id}") == "# Task #101: a {b} {task_id} - State"
    assert built_in("permanent").title_line(task_id="1", title="Login") == "# [PERMANENT] Login - State"


@pytest.mark.parametrize(
    "title",
    [
        "1. Static Context",
        "Static Context",
        "7) static  CONTEXT",
        "7 Static Context",
        "1.2. Static Context",
        "1.Static Context",
        "Static\u00a0Context ##",
        "1. Static Context (Updated by agent (each session)) [sealed]",
    ],
)
def test_a_section_is_recognised_by_its_title(title: str) -> None:
    """Number, case, spaces, closing number signs and a suffix in brackets do not matter for finding a section."""
    assert section("task", title).name == "Static Context"


@pytest.mark.parametrize(
    "title", ["", "1.", "Static", "Static Context of it", "Context", "(Static Context)", "Notes )", "User Intent"]
)
def test_another_title_is_no_section(title: str) -> None:
    """A title that only resembles a section's begins none."""
    assert built_in("task").section(title) is None


@pytest.mark.parametrize(
    ("title", "key"),
    [("10", "10"), ("(a)", "(a)"), ("a(b)", "a"), ("a) (b", "a) (b"), ("a ((b)", "a ("), ("C#", "c#"), ("C #", "c")],
)
def test_section_key_leaves_what_is_no_ornament(title: str, key: str) -> None:
    """What is left of a title is never nothing, and brackets are dropped in pairs."""
    assert section_key(title) == key


def test_section_key_of_long_titles_is_quick() -> None:
    """A heading made to be slow is read in no time."""
    for title in ("(" * 50_000, ")" * 50_000, "a" + " (b)" * 10_000, "1." * 50_000, " #" * 50_000):
        assert isinstance(section_key(title), str)


@pytest.mark.parametrize(
    ("title", "groups", "written"),
    [
        ("Session 3 - 2026-01-31 17:00", {"number": "3", "date": "2026-01-31", "time": "17:00"}, True),
        ("SESSION #3 \u2014 2026-01-31T17:00:12Z", {"number": "3", "date": "2026-01-31", "time": "17:00"}, True),
        ("Session 3: 2026-01-31", {"number": "3", "date": "2026-01-31"}, False),
        ("Session  3", {"number": "3"}, False),
        ("Session 3 (continued)", {"number": "3", "suffix": " (continued)"}, False),
    ],
)
def test_sessions_are_recognised_in_the_forms_that_people_write(
    title: str, groups: dict[str, str], *, written: bool
) -> None:
    """A session is found by its number; with day and time it can be written in the canonical form."""
    found = subsection(section("task", "Progress Log"), title)
    assert found.name == "Session"
    assert found.match(title) == groups
    assert found.title(groups) == ("Session 3 - 2026-01-31 17:00" if written else None)


@pytest.mark.parametrize("title", ["Session", "Sessions 3", "Session 3a", "Session three", "My Session 3"])
def test_what_is_no_session(title: str) -> None:
    """A heading that only resembles a session's is none."""
    assert section("task", "Progress Log").subsection(title) is None


@pytest.mark.parametrize(
    ("kind_name", "within", "title", "name", "written"),
    [
        (
            "task",
            "Progress Log",
            "archived summary (session 1\u20137)",
            "Archived Summary",
            "Archived Summary (Sessions 1-7)",
        ),
        ("task", "Progress Log", "Archived Summary", "Archived Summary", None),
        ("task", "Feature Checklist", "Phase 2a - Tokens", "Phase", "Phase 2a: Tokens"),
        ("task", "Chain Inputs", "From task 100: Database", "Chain Input", "From Task #100: Database"),
        ("task", "Chain Inputs", "From Task #100", "Chain Input", None),
        ("task", "Static Context", "1.1 task description (new)", "Task Description", "Task Description"),
        ("permanent", "Architecture Decisions", "ad-12 \u2014 Signing", "Decision", "AD-12: Signing"),
    ],
)
def test_subsections_are_recognised_and_written(
    kind_name: str, within: str, title: str, name: str, written: str | None
) -> None:
    """A subsection is found in any of its forms, and written in the one."""
    found = subsection(section(kind_name, within), title)
    groups = found.match(title)
    assert found.name == name
    assert groups is not None
    assert found.title(groups) == written


@pytest.mark.parametrize(
    "text", ["*To be completed.*", "  *Later*\r\n", "_To be completed._", "*x*", "(To be completed.)", "(after (c))"]
)
def test_placeholders(text: str) -> None:
    """A part whose whole content is one line in emphasis or in parentheses is a placeholder."""
    assert built_in("task").is_placeholder(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "**",
        "* a*",
        "*a *",
        "*a*\n*b*",
        "*a* and *b*",
        "**bold**",
        "Until then *To be completed.* stands here.",
        "- *a*",
        "(a) and (b)",
        "(a)\n(b)",
        "Until then (to be completed).",
        "- (a)",
    ],
)
def test_what_is_no_placeholder(text: str) -> None:
    """A placeholder is never a part of a text, and never more than a line."""
    assert not built_in("task").is_placeholder(text)


@pytest.mark.parametrize(("name", "values"), RENDERED)
def test_templates_agree_with_their_kinds(name: str, values: dict[str, Any]) -> None:
    """A new file has the title line, the sections and the subsections that its kind declares, in their form."""
    found, text = built_in(name), rendered(name, values)
    document = parse(text)
    assert text.splitlines()[0] == found.title_line(task_id="101", title=values["title"])
    assert headings(document, 2) == [
        each.heading.removeprefix("## ") for each in found.sections if not each.untouchable
    ]
    for spec in found.sections[:-1]:
        part = next(each for each in document.sections if each.title.endswith(spec.name))
        titles = [each.title for each in document.children(part, 3)]
        known = [spec.subsection(title) for title in titles]
        assert all(known), titles
        assert [*dict.fromkeys(known)] == [each for each in spec.subsections if each in known]
        assert {each.name for each in spec.subsections if each.required} <= {*titles}


@pytest.mark.parametrize(("name", "values"), RENDERED)
def test_templates_give_the_canonical_form(name: str, values: dict[str, Any]) -> None:
    """A new file has single blank lines around its parts, no trailing blanks, and one line end at its end."""
    text = rendered(name, values)
    assert not re.search(r"[ \t]$|\n\n\n|\n\n\Z|\A\s", text, re.MULTILINE)
    assert text.endswith("\n")
    assert not re.search(r"^[^\n]+\n#|^#[^\n]*\n[^\n]", text, re.MULTILINE)


@pytest.mark.parametrize(("name", "values"), RENDERED)
def test_the_fences_of_templates_are_valid(name: str, values: dict[str, Any]) -> None:
    """The json fences of a new file meet their schemas."""
    text = rendered(name, values)
    for part in parts_of(built_in(name)):
        found = re.search(rf"^##+ [\d. ]*{re.escape(part.name)}\n\n```json\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        if part.fence and found:
            assert schema.faults(json.loads(found[1]), part.fence.schema) == ()


def test_absent_parts_of_a_new_task_have_placeholders() -> None:
    """What is not given has the kind's placeholder, optional subsections are left out, and no input is said so."""
    text, placeholder = rendered("task", EMPTY_TASK), built_in("task").placeholder
    assert text.count(f"\n\n{placeholder}\n") == 7
    assert "## 2. Chain Inputs\n\nNone.\n\n## 3." in text
    assert headings(parse(text), 3)[:3] == ["Task Description", "Acceptance Criteria", "Summary"]


def test_given_parts_of_a_new_task_stand_in_their_places() -> None:
    """What is given stands in its part, lists as lists and JSON in fences."""
    text = rendered("task", FULL_TASK)
    for part in (
        "### Task Description\n\nFirst.\n\nSecond.\n\n### Scope",
        "### Scope\n\n**In:**\n\n- `src/auth/**`\n- two\n  lines\n\n**Out:**\n\n- `src/ui/**`\n\n### Acceptance",
        "### Acceptance Criteria\n\n- [ ] a token is issued\n- [ ] it expires\n\n### Standards\n\n```json\n[\n",
        "### Repository Paths\n\n- `src/auth/**`\n\n## 2. Chain Inputs",
        "## 2. Chain Inputs\n\n### From Task #100: Schema\n\n> ### Summary\n>\n> Done.\n\n## 3. Feature Checklist",
        "## 3. Feature Checklist\n\n```json\n{\n",
    ):
        assert part in text


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("task-101-state.md", ("state", "101")),
        ("a/b/task-auth.2-state.md", ("state", "auth.2")),
        ("a\\task-101-state.md", ("state", "101")),
        ("task-a b-state.md", ("state", "a b")),
        ("task--state.md", ("state", "")),
        ("task-101-archive.md", ("archive", "101")),
        ("task-101-impact-map.json", ("impact-map", "101")),
        ("handoffs/task-101/phase-1-handoff-20260131T120000Z.md", ("handoff", "101")),
        ("task-101/archive/phase-2a-handoff-20260131T120000Z.md", ("handoff", "101")),
        ("phase-1-handoff-20260131T120000Z.md", ("handoff", None)),
        ("docs/phase-1-handoff-20260131T120000Z.md", ("handoff", None)),
        ("task-101/phase-2a-progress.json", ("progress", "101")),
        ("phase-1-progress.json", ("progress", None)),
        ("phase-progress.json", None),
        ("task-state.md", None),
        ("mytask-101-state.md", None),
        ("task-101-state.md.bak", None),
        ("task-101-state.md/readme.md", None),
        ("task-101-state.markdown", None),
        ("phase-1-handoff-notes.md", None),
        ("task-101-archive.md\n", None),
    ],
)
def test_own_file(name: str, expected: tuple[str, str | None] | None) -> None:
    """The files of taskstate are recognised by their names, anywhere, with the id as it stands there."""
    assert own_file(name) == expected


@pytest.mark.parametrize(
    "text",
    [
        "101",
        "#101",
        "TASK-101",
        "task-101",
        " 101 ",
        "task-101-state.md",
        "TASK-101-STATE.MD",
        ".taskstate/tasks/task-101-state.md",
        "C:\\work\\task-101-state.md",
        "/archives/task-101-archive.md",
        "task-101-impact-map.json",
        "handoffs/task-101/phase-1-handoff-20260131T120000Z.md",
    ],
)
def test_the_ways_to_name_a_task(text: str) -> None:
    """A task is named by its id, with ornaments, by its file, and by a path."""
    assert parse_task_id(text) == "101"


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "#",
        "../evil",
        "a/b",
        "a b",
        "a..b",
        "-a",
        "a-",
        "ä",
        "task-",
        "task-task-1",
        "task-a b-state.md",
        "x" * 65,
        "1\x1b[2J",
        "phase-1-handoff-20260131T120000Z.md",
    ],
)
def test_what_names_no_task(text: str) -> None:
    """What cannot be an id is refused, and no control character of it is repeated."""
    with pytest.raises(TaskstateError) as caught:
        parse_task_id(text)
    assert caught.value.code == "bad-id"
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("text", ["jwt-1", "Ünicode", "a.b/c#d", "x" * MAX_ID, " jwt-1 "])
def test_ids_of_features(text: str) -> None:
    """The id of a feature is any short word."""
    assert parse_feature_id(text) == text.strip()


@pytest.mark.parametrize("text", ["", "a b", "a=b", "a\nb", "a\u00a0b", "\u202ea", "x" * 65])
def test_what_is_no_id_of_a_feature(text: str) -> None:
    """A feature's id has no spaces, no equals sign, nothing invisible, and an end."""
    with pytest.raises(TaskstateError) as caught:
        parse_feature_id(text)
    assert caught.value.code == "bad-id"


def test_ids_sort_naturally() -> None:
    """Ids sort by their numbers, then by their letters."""
    ids = ["7", "007", "9", "10", "101", "101-2", "101.10", "101a", "A2", "b", "a10"]
    assert sorted(ids, key=id_key) == ["007", "7", "9", "10", "101", "101-2", "101.10", "101a", "A2", "a10", "b"]


def test_id_keys_tell_ids_apart() -> None:
    """Keys are equal for two spellings of one id alone, and exist for whatever stands in a file."""
    assert id_key("Auth-2") == id_key("aUTH-2")
    assert id_key("007") != id_key("7")
    assert id_key("9" * 5000) > id_key("8" * 5000)
    assert id_key("") < id_key("1")
    assert id_key("\u0663") > id_key("1")


def test_the_pattern_of_ids_is_that_of_the_schema() -> None:
    """What the code takes for an id is what the published schema does."""
    declared = schema.load("task")["$defs"]["id"]
    assert declared["maxLength"] == MAX_ID
    assert declared["pattern"].replace("([._-]", "(?:[._-]") == f"^{ID_PATTERN}$"
    assert is_id("x" * MAX_ID)
    assert not is_id("x" * (MAX_ID + 1))
    assert not is_id("101\n")
