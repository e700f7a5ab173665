from __future__ import annotations

import hashlib
import json
import re
import subprocess
from typing import TYPE_CHECKING, Any

import frontmatter
import pytest

from taskstate import resources
from taskstate.context.task_file import git_blob_id
from taskstate.lint import engine
from taskstate.model.session_texts import ENTRY_FORM
from taskstate.model.task_state import read_state
from taskstate.syntax.document import parse
from taskstate.tasks import create
from taskstate.tasks.create import NewTask, with_task_file
from taskstate.workspace.workspace import find_workspace
from tests.support.place import Place, refusal, tree

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.model.task_state import TaskState

TASK_FILE = """\
# comments are fine
title: Login
priority: P1
area: backend
description: |
  # a remark, dropped
  The first paragraph
  goes on.

  ## Details

  - an item
scope:
  in: ["src/auth/**", ":ui"]
  out:
    - src/ui/**
acceptance_criteria:
  - Tokens verify
  - |
    Two
    lines
qa:
  commands: ["pnpm lint", 'pnpm test -- "x"']
standards:
  - standards/backend.md#handlers
  - {file: standards/ts.md, section: strict, requirement: No any}
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with task 101."""
    return Place(tmp_path / "repository")


def made(place: Place, task_id: str = "7", **parts: Any) -> TaskState:  # noqa: ANN401 - the fields of a new task
    """Return what the state file of a new task says; it has no finding."""
    task = NewTask(id=task_id, **({"title": "T"} | parts))
    outcome = create.create(place.workspace, task, place.request())
    text = (place.root / outcome.path).read_text(encoding="utf-8")
    assert engine.check(text, outcome.path, place.workspace.config) == ()
    return read_state(parse(text))


def section(state: TaskState, name: str, parent: str = "Static Context") -> str:
    """Return the text of a part."""
    result = state.subsection(parent, name)
    return result.body.of(state.document.text).strip("\n") if result else ""


def from_file(text: str | bytes, **given: Any) -> NewTask:  # noqa: ANN401 - the fields of a new task
    """Return a task taken from a task file."""
    data = text if isinstance(text, bytes) else text.encode()
    return with_task_file(NewTask(id="7", **given), "tasks/login.task.yaml", data)


# From what is given


def test_bare_task_has_placeholders(place: Place) -> None:
    """What is not given is a placeholder or left out, and the front matter holds what is needed."""
    state = made(place, "7")
    assert dict(state.document.front_matter) == {
        "taskstate": 1,
        "task_id": "7",
        "title": "T",
        "status": "created",
        "created_at": "2026-01-31T12:02:00Z",
        "updated_at": "2026-01-31T12:02:00Z",
        "revision": 1,
        "sessions": {"total": 0, "archived": 0, "recent": 0},
        "file_size_kb": 2,
        "audit": state.document.front_matter["audit"],
    }
    assert section(state, "Task Description") == section(state, "Acceptance Criteria") == "*To be completed.*"
    assert ENTRY_FORM in state.document.text
    assert [each.title for each in state.document.sections if each.level < 4] == [
        "Task #7: T - State",
        "1. Static Context",
        "Task Description",
        "Acceptance Criteria",
        "2. Chain Inputs",
        "3. Feature Checklist",
        "4. Progress Log",
        "5. Git History",
        "6. Chain Output",
        "Summary",
        "Files Created/Modified",
        "API Contract",
        "Configuration Required",
        "Integration Notes for Downstream Tasks",
    ]


def test_task_with_everything(place: Place) -> None:
    """Each given part is in its place."""
    made(place, "6")
    state = made(
        place,
        title="Login: the 'form' #1",
        description="One.\n\nTwo.",
        criteria=("A", "B\n\n```\nb\n```"),
        features=(("f-1", "does it"), ("f-2", "does more")),
        depends_on=("101", "6"),
        priority="P0",
        area="web ui",
    )
    assert state.title == "Login: the 'form' #1"
    assert state.document.sections[0].title == "Task #7: Login: the 'form' #1 - State"
    assert section(state, "Task Description") == "One.\n\nTwo."
    assert [(each.text, each.checked) for each in state.criteria] == [("A", False), ("B\n\n```\nb\n```", False)]
    assert state.checklist
    assert [(each.id, each.description, each.passes) for each in state.checklist.features] == [
        ("f-1", "does it", False),
        ("f-2", "does more", False),
    ]
    assert state.depends_on == ("6", "101")
    assert (state.text("priority"), state.text("area")) == ("P0", "web ui")


STRUCTURE = (
    "# A\n## 4. Progress Log\n\n### Session 9 - 2026-01-01 10:00\n\nText\n====\n\n<!-- x\n\n```\n## 6. Chain Output"
)


def test_text_from_outside_makes_no_structure(place: Place) -> None:
    """A description, criterion or title that looks like structure becomes none."""
    plain = made(place, "6", description="x", criteria=("x",))
    state = made(place, "7", title="## 4. Progress Log", description=STRUCTURE, criteria=(STRUCTURE, "- [x] done"))
    titles = [each.title for each in state.document.sections]
    assert titles[1:] == [each.title for each in plain.document.sections][1:]
    assert [each.checked for each in state.criteria] == [False, False]
    assert state.sessions == ()
    assert state.problems == ()


@pytest.mark.parametrize(
    "title",
    [
        "yes",
        "1e3",
        "2026-01-01",
        "a: b",
        "@x",
        "# x",
        "it's",
        "{x}",
        "*x*",
        "\u65e5\u672c \U0001f600",
        "null",
        "~",
        "'",
        '"',
        "- x",
        "x #",
    ],
)
def test_every_title_loads_as_it_was_given(place: Place, title: str) -> None:
    """Whatever a title looks like to YAML, python-frontmatter reads the same text."""
    made(place, title=title)
    assert frontmatter.load(str(place.workspace.locate("7")))["title"] == title


@pytest.mark.parametrize("task_id", ["007", "1e3", "12", "0x1f", "1_000", "no", "2026-01-01", "a.b_c-d", "x" * 64])
def test_every_id_loads_as_it_was_given(place: Place, task_id: str) -> None:
    """Whatever an id looks like to YAML, python-frontmatter reads the same text."""
    made(place, task_id)
    assert frontmatter.load(str(place.workspace.locate(task_id)))["task_id"] == task_id


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ({"title": ""}, "empty"),
        ({"title": " \t"}, "empty"),
        ({"title": "a\nb"}, "several-lines"),
        ({"title": "a\x1b[31m"}, "control-characters"),
        ({"description": "a\u202eb"}, "control-characters"),
        ({"description": " \n"}, "empty"),
        ({"criteria": ("a", "")}, "empty"),
        ({"features": (("a b", "x"),)}, "bad-id"),
        ({"features": (("a", ""),)}, "empty"),
        ({"features": (("a", "x"), ("a", "y"))}, "usage"),
        ({"features": (("a", "x\ny"),)}, "several-lines"),
        ({"depends_on": ("999",)}, "not-found"),
        ({"depends_on": ("7",)}, "not-found"),
        ({"area": "a\nb"}, "several-lines"),
        ({"id": "101"}, "exists"),
    ],
)
def test_what_cannot_be_taken_over_is_refused(place: Place, parts: dict[str, Any], code: str) -> None:
    """A part that is empty, unsafe or unknown creates nothing."""
    before = tree(place.root)
    task = NewTask(**({"id": "7", "title": "T"} | parts))
    assert refusal(lambda: create.create(place.workspace, task, place.request())).code == code
    assert tree(place.root) == before


def test_id_that_differs_in_case_alone_is_taken(place: Place) -> None:
    """Two ids that differ only in case are the same id."""
    made(place, "Auth-1")
    error = refusal(lambda: made(place, "aUTH-1"))
    assert error.code == "exists"
    assert "task-Auth-1-state.md" in error.message


def test_id_of_a_state_file_elsewhere_is_taken(place: Place) -> None:
    """A state file anywhere in the repository takes its id."""
    other = place.root / "docs" / "task-7-state.md"
    other.parent.mkdir()
    place.path.rename(other)
    assert refusal(lambda: made(place, "7")).code == "exists"


def test_dry_run_writes_nothing(place: Place) -> None:
    """A dry run gives the whole new file as a diff."""
    before = tree(place.root)
    outcome = create.create(place.workspace, NewTask(id="7", title="T"), place.request(dry_run=True))
    assert tree(place.root) == before
    assert outcome.diff.startswith("--- /dev/null\n+++ b/.taskstate/tasks/task-7-state.md\n@@ -0,0 +1,")
    assert all(line.startswith(("+", "-", "@")) for line in outcome.diff.splitlines())


def test_new_task_cannot_be_at_a_revision(place: Place) -> None:
    """A new file has no revision that a user could expect."""
    task = NewTask(id="7", title="T")
    assert refusal(lambda: create.create(place.workspace, task, place.request(expect="3"))).code == "revision"


# From a task file


def test_task_file_gives_what_is_not_given(place: Place) -> None:
    """Every part of a task file is in its place, and the file is recorded with git's id of it."""
    (place.root / "tasks").mkdir()
    (place.root / "tasks/login.task.yaml").write_text(TASK_FILE, encoding="utf-8")
    task = from_file(TASK_FILE)
    outcome = create.create(place.workspace, task, place.request())
    text = (place.root / outcome.path).read_text(encoding="utf-8")
    state = read_state(parse(text))
    assert engine.check(text, outcome.path, place.workspace.config) == ()
    assert (state.title, state.text("priority"), state.text("area")) == ("Login", "P1", "backend")
    assert section(state, "Task Description") == "The first paragraph goes on.\n\n\\## Details\n\n- an item"
    assert section(state, "Scope") == "**In:**\n\n- src/auth/**\n- :ui\n\n**Out:**\n\n- src/ui/**"
    assert [each.text for each in state.criteria] == ["Tokens verify", "Two lines"]
    assert json.loads(section(state, "Validation").split("```")[1].removeprefix("json")) == {
        "commands": ["pnpm lint", 'pnpm test -- "x"']
    }
    standards = json.loads(section(state, "Standards").split("```")[1].removeprefix("json"))
    assert standards == [
        {"file": "standards/backend.md", "requirement": "see handlers", "section": "handlers"},
        {"file": "standards/ts.md", "requirement": "No any", "section": "strict"},
    ]
    assert section(state, "Repository Paths") == "- `:ui`\n- `src/auth/**`"
    assert state.document.front_matter["context"] == {
        "task_file": "tasks/login.task.yaml",
        "task_file_sha": git_blob_id(TASK_FILE.encode()),
    }


def test_what_is_given_goes_before_the_task_file() -> None:
    """A part from the command line takes the place of the task file's."""
    given = {"title": "Mine", "description": "D", "criteria": ("C",), "priority": "P3", "area": "web"}
    task = from_file(TASK_FILE, features=(("f", "x"),), depends_on=("1",), **given)
    assert {key: getattr(task, key) for key in given} == given
    assert (task.features, task.depends_on) == ((("f", "x"),), ("1",))
    assert task.commands == ("pnpm lint", 'pnpm test -- "x"')


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: T\n",
        "# c\n---\ntitle: T\n...\n",
        "\ufefftitle: T\n",
        "\ufeff---\r\ntitle: T\r\n",
        "title: T\nscope:\nqa:\nstandards: []\nacceptance_criteria: []\ndescription:\n",
        '{"title": "T"}',
        "title: T\ndescription: |\n  # nothing but a remark\n",
    ],
)
def test_task_file_in_every_form_is_read(text: str) -> None:
    """Document marks, a BOM, CRLF, empty keys and JSON are all YAML."""
    task = from_file(text)
    assert (task.title, task.description, task.criteria, task.scope_in) == ("T", "", (), ())


def test_scalars_of_a_task_file_are_text() -> None:
    """Where a text is expected, a date, a number and `no` are taken as they are written."""
    task = from_file("title: 2026-01-01\narea: no\nacceptance_criteria: [1e3, yes, 0o17]\n")
    assert (task.title, task.area, task.criteria) == ("2026-01-01", "no", ("1e3", "yes", "0o17"))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("title: a: b\n", "line 1"),
        ("x: 1\ntitle: @a\n", "line 2"),
        ("title: T\ntitle: U\n", "twice"),
        ("- a\n", "login.task.yaml"),
        ("just text", "login.task.yaml"),
        ("title: [a]\n", "title"),
        ("title: T\npriority: P9\n", "priority"),
        ("title: T\nscope: text\n", "scope"),
        ("title: T\nscope: {in: [[1]]}\n", "scope"),
        ("title: T\nacceptance_criteria: text\n", "acceptance_criteria"),
        ("title: T\nstandards: [plain]\n", "plain"),
        ("title: T\nstandards: ['#x']\n", "#x"),
        ("title: T\nstandards: [{file: a}]\n", "section"),
        (b"title: \xff\n", "not UTF-8"),
        ("title: T\nx: &a [*a]\n", "login.task.yaml"),
        ("title: !!python/object:os.system x\n", "login.task.yaml"),
        ("a: b\n---\nc: d\n", "login.task.yaml"),
    ],
)
def test_wrong_task_file_is_refused(text: str | bytes, what: str) -> None:
    """What is no such YAML, or of another type, is one line that says where."""
    error = refusal(lambda: from_file(text))
    assert what in str(error)
    assert "\n" not in str(error)


def test_unknown_keys_of_a_task_file_are_warnings(place: Place) -> None:
    """An unknown key is named with the task, which is created all the same."""
    task = from_file("title: T\nowner: somebody\nx-mine: 1\n")
    outcome = create.create(place.workspace, task, place.request())
    assert [each.partition(";")[0] for each in outcome.warnings] == [
        "tasks/login.task.yaml, line 2: `owner` is not a known key"
    ]
    assert place.workspace.locate("7").exists()


def test_a_task_file_sets_everything(place: Place) -> None:
    """Facts, upstream tasks, features and paths of a task file are in the state file."""
    text = (
        "title: T\nagent: a\nrepository: r\nepic: e\nprd: docs/p.md\ndepends_on: [TASK-101]\nrepository_paths: [x/**]\n"
    )
    task = from_file(f"{text}features: [{{id: f-1, description: does it}}]\n")
    state = made(place, **{key: value for key, value in task._asdict().items() if key != "id"})
    assert [state.text(key) for key in ("agent", "repository", "epic", "prd")] == ["a", "r", "e", "docs/p.md"]
    assert state.depends_on == ("101",)
    assert state.checklist
    assert [(each.id, each.description) for each in state.checklist.features] == [("f-1", "does it")]
    assert section(state, "Repository Paths") == "- `x/**`"


def test_standards_are_sorted(place: Place) -> None:
    """Citations stand by file and section, in whatever order the task file has them."""
    cited = ("b.md#a", "a.md#z", "a.md#b")
    state = made(place, standards=from_file(f"title: T\nstandards: [{', '.join(map(repr, cited))}]\n").standards)
    result = json.loads(section(state, "Standards").split("```")[1].removeprefix("json"))
    assert [(each["file"], each["section"]) for each in result] == [("a.md", "b"), ("a.md", "z"), ("b.md", "a")]


def test_git_blob_id_is_gits(tmp_path: Path) -> None:
    """The id of a task file is the one that git gives it."""
    path = tmp_path / "x"
    path.write_bytes(b"a\r\nb\xff")
    result = subprocess.run(
        ["git", "hash-object", "--no-filters", str(path)], capture_output=True, check=True, text=True
    )
    assert git_blob_id(path.read_bytes()) == result.stdout.strip()
    assert git_blob_id(b"") == hashlib.sha1(b"blob 0\0", usedforsecurity=False).hexdigest()


# The template


def template(place: Place, text: str | bytes) -> None:
    """Give the repository a template of its own."""
    path = place.workspace.state_root / "templates" / "task-state.md.j2"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def test_project_has_a_template_of_its_own(place: Place) -> None:
    """A template in the state folder takes the place of the shipped one."""
    shipped = resources.text("templates/task-state.md.j2").replace("\n", "\r\n")
    template(place, f"{shipped}\r\n## Own part\r\n\r\n{{% for each in criteria %}}{{{{ each }}}}\r\n{{% endfor %}}")
    create.create(place.workspace, NewTask(id="7", title="T", criteria=("A", "B")), place.request())
    assert place.workspace.locate("7").read_bytes().decode().endswith("\n## Own part\n\n- [ ] A\n- [ ] B\n")


@pytest.mark.parametrize(
    ("old", "new", "missing"),
    [
        ("## 4. Progress Log", "## Diary", "`## 4. Progress Log`"),
        ("### Acceptance Criteria", "### Wishes", "`### Acceptance Criteria`"),
        ("```json\n{{ checklist_json }}\n```", "None.", "`## 3. Feature Checklist with a json fence`"),
    ],
)
def test_a_template_without_a_required_part_is_refused(place: Place, old: str, new: str, missing: str) -> None:
    """The message names what is missing, and nothing is created."""
    shipped = resources.text("templates/task-state.md.j2")
    assert old in shipped
    template(place, shipped.replace(old, new))
    before = tree(place.root)
    error = refusal(lambda: create.create(place.workspace, NewTask(id="7", title="T"), place.request()))
    assert (error.code, missing in error.message) == ("template", True), error.message
    assert tree(place.root) == before


@pytest.mark.parametrize(
    "source",
    [
        "{{ no_such_part }}",
        "{{ title ",
        "{% include 'x' %}",
        "{{ 1 / 0 }}",
        "{{ title + 1 }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ criteria.append(1) }}",
        b"\xff",
    ],
)
def test_wrong_template_is_refused(place: Place, source: str | bytes) -> None:
    """A template that is wrong, or reaches for more than its parts, is one clear error, and nothing is created."""
    template(place, source)
    before = tree(place.root)
    error = refusal(lambda: create.create(place.workspace, NewTask(id="7", title="T"), place.request()))
    assert error.code in {"template", "not-utf8"}
    assert "task-state.md.j2" in error.message
    assert tree(place.root) == before


def test_written_values_need_no_repair(place: Place) -> None:
    """Timestamps, hashes and ids are quoted, so that no YAML reader takes them for something else."""
    state = made(place, "12")
    text = state.document.text
    assert re.search(r'^task_id: "12"$', text, re.MULTILINE)
    assert re.search(r'^created_at: "2026-', text, re.MULTILINE)
    assert re.search(r'^  seal: "[0-9a-f]{64}"$', text, re.MULTILINE)
    assert find_workspace(place.root).load(place.workspace.locate("12")).state.revision == 1
