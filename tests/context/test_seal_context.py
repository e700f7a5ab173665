"""Capturing and sealing the static part of a task, and rebuilding it, in a repository without git."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.context import seal_context
from taskstate.context.capture_citations import configured_citations
from taskstate.context.capture_plan import CaptureRequest
from taskstate.context.check import check
from taskstate.context.task_file import git_blob_id
from taskstate.doctor.repairs import let_go
from taskstate.errors import TaskstateError
from taskstate.lint import engine
from taskstate.lint.queries.answers import RepositoryQueries
from taskstate.model.canonical_json import canonical_json
from taskstate.model.config_reader import parse_config
from taskstate.model.static_context import StaticPart, context_seal, read_static
from taskstate.model.write_metadata import blocks_of
from taskstate.storage import files
from taskstate.syntax.document import parse
from taskstate.tasks import create
from taskstate.writing.losses import find_loss
from tests.support.place import MINUTE, TASK, Place, refusal, tree

if TYPE_CHECKING:
    from taskstate.context.seal_context import SealResult

STANDARD = """\
# Backend

## Handlers

Handlers stay under 75 lines. More follows.

## Layers

No handler talks to the database.

## Layers

Second of its name.
"""
SETTINGS = """\
[[standards]]
area = "backend"
priority = ["P0", "P1"]
cite = ["standards/backend.md#layers", "./standards/backend.md#handlers"]

[validation]
"*" = ["make test"]
backend = ["pytest -q", "ruff check"]

[scope]
ui = ["src/ui/**", ":pages"]
pages = ["pages/*.ts"]
"""
TASK_FILE = """\
title: JWT Service
priority: P1
area: backend
description: |
  Issue and verify tokens.
  # a comment
  Keys rotate.
scope:
  in: ["src/auth/**", ":ui"]
  out: [src/old]
acceptance_criteria:
  - Tokens verify
  - Keys rotate
"""
NAME = "tasks/101.task.yaml"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository whose task 101 comes from a task file, with standards and a configuration."""
    found = Place(tmp_path / "repository")
    write(found, "standards/backend.md", STANDARD)
    write(found, "taskstate.toml", SETTINGS)
    write(found, "src/auth/jwt.py", "x = 1\n")
    found.path.unlink()
    made_from(found, TASK_FILE)
    return found


def write(place: Place, name: str, text: str | bytes) -> Path:
    """Write a file of the repository."""
    path = place.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def made_from(place: Place, text: str) -> None:
    """Create task 101 from a task file in place of the existing one."""
    write(place, NAME, text)
    gone(place)
    task = create.with_task_file(create.NewTask(id=TASK), NAME, text.encode())
    create.create(place.workspace, task, place.request())


def by_hand(place: Place, **parts: Any) -> None:  # noqa: ANN401 - the fields of a new task
    """Create task 101 without a task file in place of the existing one."""
    gone(place)
    place.new(**parts)


def gone(place: Place) -> None:
    """Delete task 101, as somebody who means it."""
    place.path.unlink(missing_ok=True)
    if find_loss(place.workspace, TASK):
        let_go(place.workspace, TASK, place.request())


def init(place: Place, *, dry_run: bool = False, **wanted: Any) -> SealResult:  # noqa: ANN401 - what is wanted
    """Seal task 101, and check that the result is clean and its seal matches."""
    done = seal_context.init(place.workspace, TASK, CaptureRequest(**wanted), place.request(dry_run=dry_run))
    if not dry_run:
        proved(place)
    return done


def rebuild(place: Place, **wanted: Any) -> SealResult:  # noqa: ANN401 - what is wanted
    """Rebuild the context of task 101, and check that the result is clean and its seal matches."""
    done = seal_context.rebuild(place.workspace, TASK, CaptureRequest(**wanted), place.request())
    proved(place)
    return done


def proved(place: Place) -> None:
    """Check the state file against the rules and its seal, and the manifest against the state file."""
    queries = RepositoryQueries(place.checking().repository, place.path)
    found = engine.check(place.text, place.path.name, place.workspace.config, queries)
    assert [each.message for each in found if each.code != "TS104"] == []
    document = parse(place.text)
    blocks = blocks_of(document)
    context = blocks.context.values
    assert context_seal(document, blocks.values) == blocks.context.seal
    text = (place.workspace.state_root / "artifacts/task-101/manifest.json").read_text(encoding="utf-8")
    manifest = json.loads(text)
    assert canonical_json(manifest) == text
    assert {key: manifest[key] for key in context} == context


def static(place: Place) -> StaticPart:
    """Return the static part of task 101."""
    return read_static(place.state)


def block(place: Place) -> dict[str, Any]:
    """Return the block `context` of task 101."""
    return dict(parse(place.text).front_matter["context"])


def sources(done: SealResult) -> dict[str, str]:
    """Return the source of each part."""
    return {row.part: row.source for row in done.rows}


# The first capture


def test_a_task_file_is_captured(place: Place) -> None:
    """Every part comes from the task file or the configuration, and the table says from which."""
    done = init(place)
    assert static(place) == StaticPart(
        description="Issue and verify tokens. Keys rotate.",
        scope_in=("src/auth/**", ":ui"),
        scope_out=("src/old",),
        criteria=("Tokens verify", "Keys rotate"),
        standards=(
            {
                "content_sha": "aa1e9efb340edca8",
                "file": "standards/backend.md",
                "line_span": "L3-L5",
                "requirement": "Handlers stay under 75 lines.",
                "section": "handlers",
            },
            {
                "content_sha": "d986666dcffd046f",
                "file": "standards/backend.md",
                "line_span": "L7-L9",
                "requirement": "No handler talks to the database.",
                "section": "layers",
            },
        ),
        commands=("pytest -q", "ruff check"),
        paths=("pages/*.ts", "src/auth/**", "src/ui/**"),
    )
    assert sources(done) == {
        **dict.fromkeys(("title", "priority", "area", "description", "scope", "acceptance criteria"), NAME),
        "standards": "taskstate.toml",
        "validation": "taskstate.toml, backend",
        "repository paths": NAME,
    }
    assert done.outcome.notes == (
        "tasks/101.task.yaml, line 4: a line of `description` is left out as a comment (`\\#` keeps one): # a comment",
        "repository paths: pages/*.ts, src/ui/** match no file of the repository yet",
        "the task is created, not in_progress: sealed anyway",
    )
    data = {name: (place.root / name).read_bytes() for name in ("standards/backend.md", NAME, "taskstate.toml")}
    assert block(place) == {
        "sealed_at": "2026-01-31T12:03:00Z",
        "sealed_by": "somebody",
        "task_file": NAME,
        "task_file_sha": git_blob_id(TASK_FILE.encode()),
        "sources": [{"path": name, "sha256": files.digest(text)} for name, text in data.items()],
        "normalizer": "2.0.0",
        "serializer": "1.0.0",
        "seal": done.seal,
    }
    values = blocks_of(parse(place.text)).values
    assert values["baseline"] == {"status": "pending"}
    assert "delta" not in values


def test_section_one_alone_is_captured(place: Place) -> None:
    """Without a task file section 1 is the source: it keeps its bytes, and the configuration fills the gaps."""
    by_hand(place, area="backend", priority="P0", scope_in=("`src/auth`", "src/**/*.py"))
    before = place.text
    done = init(place)
    assert sources(done) == {
        **dict.fromkeys(("title", "priority", "area"), "front matter"),
        **dict.fromkeys(("description", "scope", "acceptance criteria"), "section 1"),
        "standards": "taskstate.toml",
        "validation": "taskstate.toml, backend",
        "repository paths": "scope",
    }
    assert static(place).paths == ("src/**/*.py", "src/auth")
    assert "task_file" not in block(place)
    kept = before[before.index("## 1. ") : before.index("## 2. ")]
    assert kept in place.text
    assert rebuild(place).outcome.changed is False


def test_a_task_file_may_be_named(place: Place) -> None:
    """`--from` names the task file of a task that was made without one; it fills the empty parts."""
    by_hand(place, description="", criteria=())
    done = init(place, task_file=NAME)
    assert static(place).criteria == ("Tokens verify", "Keys rotate")
    assert (place.state.text("area"), place.state.text("priority")) == ("backend", "P1")
    assert sources(done)["description"] == NAME


def test_what_the_state_file_says_is_kept(place: Place) -> None:
    """A part that differs from the task file stays, with its check marks, and a note says so."""
    place.text = place.text.replace("Keys rotate.", "Keys rotate daily.").replace("- [ ] Tokens", "- [x] Tokens")
    place.text = place.text.replace("priority: P1", "priority: P0")
    done = init(place)
    assert static(place).description == "Issue and verify tokens. Keys rotate daily."
    assert [each.checked for each in place.state.criteria] == [True, False]
    kept = [note for note in done.outcome.notes if "kept as the state file has it" in note]
    assert [note.split(":")[0] for note in kept] == ["priority", "description"]
    assert f"although {NAME} says otherwise; `taskstate context rebuild 101` takes what the file says" in kept[0]
    assert sources(done)["description"] == "section 1"
    rebuild(place)
    assert static(place).description == "Issue and verify tokens. Keys rotate."
    assert place.state.text("priority") == "P1"
    assert [each.checked for each in place.state.criteria] == [True, False]


def test_commands_go_by_precedence(place: Place) -> None:
    """The task's own commands win over those of its area, and these over those of all areas."""
    made_from(place, TASK_FILE + "qa: {commands: [own]}\n")
    assert sources(init(place))["validation"] == NAME
    assert static(place).commands == ("own",)
    made_from(
        place, TASK_FILE.replace("area: backend", "area: mobile") + "standards: ['standards/backend.md#layers']\n"
    )
    assert sources(init(place))["validation"] == "taskstate.toml, all areas"
    assert static(place).commands == ("make test",)


def test_own_citations_go_before_mapped_ones(place: Place) -> None:
    """For a section cited twice the task's own requirement wins; the list is sorted."""
    own = "standards: [{file: standards/backend.md, section: layers, requirement: Keep them apart}, "
    made_from(place, f"{TASK_FILE}{own}'standards/backend.md#layers-1']\n")
    done = init(place)
    found = {each["section"]: each["requirement"] for each in static(place).standards}
    assert found == {
        "handlers": "Handlers stay under 75 lines.",
        "layers": "Keep them apart",
        "layers-1": "Second of its name.",
    }
    assert list(found) == sorted(found)
    assert sources(done)["standards"] == f"taskstate.toml, {NAME}"


def test_words_of_the_state_file_are_kept_at_first(place: Place) -> None:
    """A requirement in section 1 wins over the one of the task file until a rebuild."""
    made_from(place, f"{TASK_FILE}standards: [{{file: standards/backend.md, section: layers, requirement: Apart}}]\n")
    place.text = place.text.replace('"requirement": "Apart"', '"requirement": "Keep apart"')
    init(place)
    assert [each["requirement"] for each in static(place).standards] == ["Handlers stay under 75 lines.", "Keep apart"]
    rebuild(place)
    assert [each["requirement"] for each in static(place).standards] == ["Handlers stay under 75 lines.", "Apart"]


def test_the_sample_in_the_manual_is_a_configuration() -> None:
    """The example configuration can be read, and maps each area to its own and the common standards."""
    page = (Path(__file__).parents[2] / "docs/context.md").read_text(encoding="utf-8")
    config = parse_config(page.split("```toml\n")[1].split("```")[0], "taskstate.toml")
    assert config
    assert [len(configured_citations(config, area, "P2", "x")) for area in ("backend", "other")] == [11, 3]
    assert len(configured_citations(config, "backend", "P3", "x")) == 3


@pytest.mark.parametrize(
    ("area", "priority", "cited"),
    [("backend", "P1", 2), ("backend", "P2", 0), ("backend", "", 0), ("mobile", "P1", 0), ("", "", 0)],
)
def test_mapping_goes_by_area_and_priority(place: Place, area: str, priority: str, cited: int) -> None:
    """Only the standards for the task's area and priority and those for all areas are required."""
    write(place, "taskstate.toml", f'{SETTINGS}\n[[standards]]\ncite = ["standards/backend.md#layers-1"]\n')
    by_hand(place, area=area, priority=priority)
    init(place)
    assert len(static(place).standards) == cited + 1


def test_twice_the_same_bytes(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same sources give the same state file, exports and manifest, in another place and locale too."""
    init(place)
    monkeypatch.setenv("LC_ALL", "tr_TR.UTF-8")
    other = Place(tmp_path / "other")
    write(other, "taskstate.toml", SETTINGS)
    write(other, "standards/backend.md", STANDARD)
    other.now = place.now - 2 * MINUTE
    made_from(other, TASK_FILE)
    init(other)
    names = [name for name in tree(place.root) if name.startswith(".taskstate/artifacts/")]
    assert len(names) == 4
    for name in (".taskstate/tasks/task-101-state.md", *names):
        assert (other.root / name).read_bytes() == (place.root / name).read_bytes()


def test_the_order_of_the_configuration_does_not_count(place: Place) -> None:
    """Standards in another order or with another spelling of their path give the same seal."""
    seal = init(place).seal
    cite = '"standards/backend.md#layers", "./standards/backend.md#handlers"'
    other = '"standards//backend.md#handlers", "standards/backend.md#layers"'
    write(place, "taskstate.toml", SETTINGS.replace(cite, other))
    assert rebuild(place).seal == seal


def test_a_task_without_criteria_is_noted(place: Place) -> None:
    """A task without criteria is sealed with a note, and rebuilt when it has them."""
    by_hand(place, area="backend", priority="P1", criteria=())
    assert any(note.startswith("no acceptance criterion yet") for note in init(place).outcome.notes)
    place.text = place.text.replace("*To be completed.*", "- [ ] Done", 1)
    assert rebuild(place).outcome.changed
    assert static(place).criteria == ("Done",)


def test_dry_run_writes_nothing(place: Place) -> None:
    """A dry run shows the diff, writes no artifact and leaves the state file unchanged."""
    before = tree(place.root)
    done = init(place, dry_run=True)
    assert "+  seal: " in done.outcome.diff
    assert tree(place.root) == before


# Refusals: one line, and nothing changed


def refused(place: Place, **wanted: Any) -> str:  # noqa: ANN401 - what is wanted
    """Return the error that refuses to seal, and check that nothing changed."""
    before = tree(place.root)
    error = refusal(lambda: seal_context.init(place.workspace, TASK, CaptureRequest(**wanted), place.request()))
    assert tree(place.root) == before
    assert "\n" not in str(error)
    return f"{error.code}: {error}"


def test_sealed_once(place: Place) -> None:
    """`init` refuses a sealed task, and `rebuild` an unsealed one."""
    assert refusal(lambda: rebuild(place)).code == "not-sealed"
    init(place)
    assert refused(place).startswith("context-exists: the context of task 101 is sealed already: ")


@pytest.mark.parametrize("description", ["", "description: ''\n", "description: |\n  # only a comment\n"])
def test_without_description(place: Place, description: str) -> None:
    """A task without a description is not sealed."""
    head, _, rest = TASK_FILE.partition("description: |\n")
    made_from(place, head + description + rest[rest.index("scope:") :])
    assert refused(place).startswith("invalid-input: task 101 has no description; tasks/101.task.yaml has none either")


def test_without_citation(place: Place) -> None:
    """A task for which the configuration asks no citation is sealed without one, which is told."""
    made_from(place, TASK_FILE.replace("area: backend", "area: mobile"))
    told = "standards: none is cited, and the configuration asks for none"
    assert f"{told} (area mobile, priority P1)" in init(place).outcome.notes
    assert check(place.workspace, TASK).findings == ()
    write(place, "taskstate.toml", "[validation]" + SETTINGS.partition("[validation]")[2])
    made_from(place, TASK_FILE.replace("area: backend", "area: mobile"))
    assert told in init(place).outcome.notes


def test_facts_of_the_task_file_are_taken(place: Place) -> None:
    """Who, where and why come from the task file where the front matter has none; what only `new` takes is told."""
    more = "epic: Login\nprd: docs/login.md\nagent: ann\nrepositry: api\n"
    write(place, "other.task.yaml", f"{TASK_FILE}{more}features: [{{id: f-1, description: x}}]\ndepends_on: [9]\n")
    place.text = place.text.replace("status: created\n", "status: created\nagent: bo\n")
    outcome = init(place, task_file="other.task.yaml").outcome
    assert [place.state.text(key) for key in ("epic", "prd", "agent", "repository")] == [
        *("Login", "docs/login.md", "bo", None),
    ]
    line = TASK_FILE.count("\n") + 4
    unknown = f"other.task.yaml, line {line}: `repositry` is not a known key; did you mean `repository`?"
    assert unknown in outcome.notes
    assert (
        "other.task.yaml names the feature f-1 (`taskstate feature add 101 f-1 TEXT`), which the checklist lacks"
        in (outcome.notes)
    )
    assert "other.task.yaml names the upstream task 9, which `depends_on` in the front matter lacks" in outcome.notes


def test_repository_paths_of_the_task_file(place: Place) -> None:
    """Paths that the task file names as such replace those of its scope."""
    made_from(place, TASK_FILE + "repository_paths: [src/auth/jwt.py]\n")
    init(place)
    assert read_static(place.state).paths == ("src/auth/jwt.py",)


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("standards/backend.md#handler", "invalid-input: standards/backend.md, which {} cites, has no heading with"),
        ("standards/backend.md#handler", "did you mean standards/backend.md#handlers?"),
        ("standards/gone.md#x", "not-found: standards/gone.md, which {} cites, does not exist"),
        ("../other.md#x", "path-escapes: ../other.md, which {} cites, leads out of the repository"),
        ("/etc/passwd#x", "path-escapes: /etc/passwd, which {} cites, leads out of the repository"),
        ("standards#x", "not-a-file: standards, which {} cites, cannot be read"),
        ("standards/latin.md#x", "not-utf8: standards/latin.md, which {} cites, is not UTF-8: byte 2 is 0xe4"),
        ("standards/link.md#handlers", "path-escapes: standards/link.md, which {} cites, leads out of the repository"),
        ("standards/empty.md#x", "the file has no heading"),
        ("standards/big.md#x", "too-large: standards/big.md, which {} cites, holds more than 10 MiB"),
    ],
)
def test_wrong_citation(place: Place, tmp_path: Path, reference: str, said: str) -> None:
    """A missing file or heading is one error that names the citing source and offers the nearest heading."""
    (tmp_path / "outside.md").write_text(STANDARD, encoding="utf-8")
    (place.root / "standards/link.md").symlink_to(tmp_path / "outside.md")
    write(place, "standards/latin.md", b"# \xe4\n")
    write(place, "standards/empty.md", "nothing\n")
    if "big" in reference:
        with write(place, "standards/big.md", "").open("wb") as stream:
            stream.truncate(50 * 1024**2)
    write(place, "taskstate.toml", f'[[standards]]\ncite = ["{reference}"]\n')
    assert said.format("taskstate.toml") in refused(place)


def test_wrong_citation_of_the_task_file(place: Place) -> None:
    """The error names the source that cites."""
    made_from(place, f"{TASK_FILE}standards: ['standards/backend.md#handler']\n")
    assert refused(place).startswith(f"invalid-input: standards/backend.md, which {NAME} cites, has no heading with")


def test_a_link_inside_is_followed(place: Place) -> None:
    """A standard may be a link to another file of the repository."""
    (place.root / "standards/same.md").symlink_to("backend.md")
    write(place, "taskstate.toml", SETTINGS.replace("./standards/backend.md", "standards/same.md"))
    init(place)
    assert static(place).standards[1] | {"file": ""} == {
        "content_sha": "aa1e9efb340edca8",
        "file": "",
        "line_span": "L3-L5",
        "requirement": "Handlers stay under 75 lines.",
        "section": "handlers",
    }


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('":ui"', '":uj"', "invalid-input: there is no macro :uj: did you mean :ui?"),
        ('":ui"', "../x", "invalid-input: the repository path '../x' leads out of the repository"),
        ("title: JWT Service", "title: [a]", "invalid-input: tasks/101.task.yaml, line 1: "),
        ("description: |", "description: {", "invalid-input: tasks/101.task.yaml, line "),
        ("priority: P1", "priority: P9", "invalid-input: tasks/101.task.yaml, line 2: "),
        ("area: backend", 'area: "back\\e[31m"', "control-characters: the area holds U+001B"),
    ],
)
def test_wrong_task_file(place: Place, old: str, new: str, said: str) -> None:
    """An error in a task file names its line."""
    by_hand(place)
    write(place, NAME, TASK_FILE.replace(old, new))
    assert said in refused(place, task_file=NAME)


def test_task_file_that_is_not_there(place: Place) -> None:
    """A recorded task file that is gone is an error; another one may be named."""
    (place.root / NAME).rename(place.root / "tasks/new.task.yaml")
    assert refused(place).startswith("not-found: the task file tasks/101.task.yaml does not exist")
    init(place, task_file="tasks/new.task.yaml")
    assert block(place)["task_file"] == "tasks/new.task.yaml"


def test_macro_of_itself(place: Place) -> None:
    """A macro that stands for itself is refused."""
    write(place, "taskstate.toml", SETTINGS.replace('"pages/*.ts"', '":ui"'))
    assert "the macro :ui of the configuration's scope refers to itself" in refused(place)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("### Acceptance", "### Standards\n\n```json\n[{]\n```\n\n### Acceptance", "unreadable: "),
        ("### Acceptance", '### Standards\n\n```json\n[{"file": 1}]\n```\n\n### Acceptance', "cannot be used"),
        ("### Acceptance", "~~~\nopen\n\n### Acceptance", "unreadable: "),
        ("## 1. Static Context", "## 1. Static", "the section Static Context is missing"),
        ("taskstate: 1", "taskstate: 1\nkind: permanent", "kind: "),
    ],
)
def test_state_file_that_cannot_be_read(place: Place, old: str, new: str, said: str) -> None:
    """A file that cannot be read fully is not sealed."""
    place.text = place.text.replace(old, new, 1)
    place.forget()  # else a section that the last write had would be missed
    assert said in refused(place)


def test_a_secret_is_not_sealed(place: Place) -> None:
    """A source with what looks like a credential is refused before any artifact is written."""
    by_hand(place)
    write(place, NAME, TASK_FILE.replace("Tokens verify", "Uses AKIA" + "QWERTYUIOPASDFGH"))
    by_hand(place, criteria=())
    before = tree(place.root)
    error = refusal(lambda: seal_context.init(place.workspace, TASK, CaptureRequest(task_file=NAME), place.request()))
    assert "QWERTY" not in str(error)
    assert tree(place.root) == before


# Capturing anew


def test_rebuild_without_change(place: Place) -> None:
    """A rebuild without changes writes only artifacts that are missing."""
    init(place)
    before = place.text
    (place.workspace.state_root / "artifacts/task-101/manifest.json").unlink()
    assert rebuild(place).outcome.changed is False
    assert place.text == before


def test_rebuild_takes_what_the_sources_say_now(place: Place) -> None:
    """A rebuild reads task file, standards and configuration again; unchanged criteria keep their marks."""
    init(place)
    place.check(2)
    write(place, NAME, TASK_FILE.replace("  - Tokens verify", "  - Tokens expire").replace("JWT Service", "Tokens"))
    write(place, "standards/backend.md", STANDARD.replace("75 lines", "50 lines"))
    write(place, "taskstate.toml", SETTINGS.replace('"pytest -q", ', ""))
    done = rebuild(place, note="they expire")
    found = static(place)
    assert [(each.text, each.checked) for each in place.state.criteria] == [
        ("Tokens expire", False),
        ("Keys rotate", True),
    ]
    assert found.standards[0]["requirement"] == "Handlers stay under 50 lines."
    assert found.commands == ("ruff check",)
    assert place.state.document.sections[0].title == "Task #101: Tokens - State"
    assert done.outcome.changed
    assert block(place)["sealed_at"] > "2026-01-31T12:04"


def test_rebuild_drops_citations_that_no_source_names(place: Place) -> None:
    """With a task file, a citation that no source names any more is dropped with a note."""
    init(place)
    cite = 'cite = ["standards/backend.md#layers", "./standards/backend.md#handlers"]'
    write(place, "taskstate.toml", SETTINGS.replace(cite, 'cite = ["standards/backend.md#layers-1"]'))
    notes = rebuild(place).outcome.notes
    assert [each["section"] for each in static(place).standards] == ["layers-1"]
    assert any("standards/backend.md#handlers, standards/backend.md#layers left out" in note for note in notes)


def test_rebuild_from_section_one(place: Place) -> None:
    """Without a task file edits by hand are sealed; own requirements stay, derived ones follow the standard."""
    own = {"file": "standards/backend.md", "section": "layers-1", "requirement": "My words"}
    by_hand(place, area="backend", priority="P1", standards=(own,))
    init(place)
    place.text = place.text.replace("Issue tokens.", "Issue many tokens.")
    write(place, "standards/backend.md", STANDARD.replace("75 lines", "50 lines").replace("Second", "Third"))
    rebuild(place)
    assert static(place).description == "Issue many tokens."
    assert [each["requirement"] for each in static(place).standards] == [
        "Handlers stay under 50 lines.",
        "No handler talks to the database.",
        "My words",
    ]


def test_keys_of_ones_own_stay(place: Place) -> None:
    """`x-` keys in the `context` block or in a citation stay."""
    init(place)
    place.text = place.text.replace("context: {", "context: {x-board: 3, ")
    place.text = place.text.replace('"section": "layers"', '"section": "layers",\n    "x-why": "audit"')
    seal_context.rebuild(place.workspace, TASK, CaptureRequest(), place.request()._replace(reseal=True))
    assert block(place)["x-board"] == 3
    assert static(place).standards[1]["x-why"] == "audit"


# Long values


def test_long_values_are_noted_and_cut(place: Place) -> None:
    """A value over 2 KiB gets a note; `--shorten` cuts it and points to its line, and so does the next rebuild."""
    long = "word " * 600
    made_from(place, TASK_FILE.replace("Keys rotate.", long).replace("  - Tokens verify", f"  - {long}"))
    by_hand(place, description="", criteria=())
    notes = init(place, task_file=NAME, dry_run=True).outcome.notes
    assert f"a criterion holds 2999 bytes, more than 2048: --shorten cuts it, and points to {NAME}#L12" in notes
    assert f"the description holds 3024 bytes, more than 2048: --shorten cuts it, and points to {NAME}#L4" in notes
    init(place, task_file=NAME, shorten=True)
    found = static(place)
    assert len(found.description.encode()) <= 2048
    assert found.description.endswith(f"word\n\n… see {NAME}#L4")
    assert found.criteria[0].endswith(f"word\n\n… see {NAME}#L12")
    assert found.criteria[1] == "Keys rotate"
    assert rebuild(place).outcome.changed is False


def test_a_long_value_of_ones_own_has_no_place_to_point_to(place: Place) -> None:
    """A long value of the state file alone gets a note and is never cut."""
    long = "word " * 600
    by_hand(place, description=long, area="backend", priority="P1")
    notes = init(place, shorten=True).outcome.notes
    assert any("the description holds" in note and "say it in fewer words" in note for note in notes)
    assert static(place).description.split() == long.split()


# What `new` copied


def test_what_new_copied_can_be_cut(place: Place) -> None:
    """`--shorten` cuts a value that `new` copied; an edited one stays, without a note on a cut."""
    long = "word " * 600
    made_from(place, TASK_FILE.replace("Keys rotate.", long))
    told = f"the description is cut to 2048 of its 3024 bytes, and points to {NAME}#L4"
    assert told in init(place, shorten=True).outcome.notes
    assert static(place).description.endswith(f"… see {NAME}#L4")
    made_from(place, TASK_FILE.replace("Keys rotate.", long))
    place.text = place.text.replace("Issue and verify", "Sign")
    notes = init(place, shorten=True).outcome.notes
    assert told not in notes
    assert [note for note in notes if note.startswith("description: kept")]
    assert static(place).description.startswith("Sign tokens. word")


def test_code_and_deep_headings_are_sealed_as_they_are(place: Place) -> None:
    """Blank lines in code, tables and headings below those of the format come from the task file unchanged."""
    description = "Do it.\n\n#### How\n\n- a\n\n    ```\n    x\n\n\n    y\n    ```\n\na | b\n--|--\n1 | 2"
    indented = description.replace("\n", "\n  ").replace("\n  \n", "\n\n")
    made_from(place, TASK_FILE.replace("Issue and verify tokens.\n  # a comment\n  Keys rotate.", indented))
    init(place)
    assert static(place).description == description.replace("\n    ```\n    x", "\n    ```\n    x")
    assert rebuild(place).outcome.changed is False


def test_headings_of_the_format_are_text_in_a_description(place: Place) -> None:
    """A description cannot begin a section or a subsection."""
    made_from(place, TASK_FILE.replace("  Keys rotate.", "\n  ### Scope\n\n  ## Notes"))
    init(place)
    assert static(place).description == "Issue and verify tokens.\n\n\\### Scope\n\n\\## Notes"


@pytest.mark.parametrize("by_new", [True, False])
def test_paths_are_taken_out_of_a_mixed_scope(place: Place, *, by_new: bool) -> None:
    """Items in words are left out of the repository paths with a note; the paths beside them count."""
    text = TASK_FILE.replace('"src/auth/**", ":ui"', '"all of the logins", "src/auth/**", ":pages"')
    made_from(place, text)
    if not by_new:
        by_hand(place, scope_in=("all of the logins",), priority="P1", area="backend")
    told = "repository paths: left out what looks like words in the scope: all of the logins"
    assert told in init(place, task_file=NAME).outcome.notes
    assert static(place).paths == ("pages/*.ts", "src/auth/**")


@pytest.mark.parametrize("verb", [seal_context.init, seal_context.rebuild])
def test_a_merge_that_is_not_settled_is_not_sealed(place: Place, verb: Any) -> None:  # noqa: ANN401 - either job
    """Marker lines of a merge are named by their line, and nothing is written."""
    if verb is seal_context.rebuild:
        init(place)
    mark = "### Task Description\n"
    place.text = place.text.replace(mark, f"<<<<<<< ours\n{mark}=======\n{mark}>>>>>>> theirs\n")
    before = place.text
    error = refusal(lambda: verb(place.workspace, TASK, CaptureRequest(), place.request()))
    line = before[: before.index("<<<<<<<")].count("\n") + 1
    assert (error.code, error.message) == (
        "damaged",
        f".taskstate/tasks/task-101-state.md is damaged: line {line}: it holds a merge conflict",
    )
    assert place.text == before


def test_a_failed_write_leaves_no_exports(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the state file cannot be written, neither manifest nor exports are left behind."""
    before = tree(place.root)

    def full(*_: object, **__: object) -> None:
        raise TaskstateError("no space left", code="disk-full", help="make room")

    monkeypatch.setattr("taskstate.writing.writer.journal.write", full)
    assert (
        refusal(lambda: seal_context.init(place.workspace, TASK, CaptureRequest(), place.request())).code == "disk-full"
    )
    assert tree(place.root) == before
    assert not (place.workspace.state_root / "artifacts").exists()
