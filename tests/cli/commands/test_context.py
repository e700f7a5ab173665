from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.context.test_seal_context import NAME, SETTINGS, STANDARD, TASK_FILE, made_from, write
from tests.support.place import tree

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.support.place import Place

STATE = ".taskstate/tasks/task-101-state.md"
COMMENT = f"{NAME}, line 4: a line of `description` is left out as a comment (`\\#` keeps one): # a comment"


@pytest.fixture
def sources(place: Place) -> Place:
    """Return the repository with a task file, standards and a configuration."""
    write(place, "standards/backend.md", STANDARD)
    write(place, "taskstate.toml", SETTINGS)
    write(place, "src/auth/jwt.py", "x = 1\n")
    write(place, "src/ui/a.ts", "x\n")
    write(place, "pages/a.ts", "x\n")
    made_from(place, TASK_FILE)
    return place


def test_init_tells_what_came_from_where(cli: Cli, sources: Place) -> None:
    """A table says what was captured of each part and from what; the second time is refused."""
    assert cli.ok("context", "init", "101") == (
        f"{STATE}: sealed\n\n"
        "PART                 CAPTURED     FROM\n"
        f"title                JWT Service  {NAME}\n"
        f"priority             P1           {NAME}\n"
        f"area                 backend      {NAME}\n"
        f"description          1 line       {NAME}\n"
        f"scope                2 in, 1 out  {NAME}\n"
        f"acceptance criteria  2            {NAME}\n"
        "standards            2 citations  taskstate.toml\n"
        "validation           2 commands   taskstate.toml, backend\n"
        f"repository paths     3            {NAME}\n"
        "\n"
        f"  {COMMENT}\n"
        "  the task is created, not in_progress: sealed anyway\n"
    )
    assert "No findings" in cli.ok("lint")
    refused = cli.refused("context", "init", "101")
    assert refused.startswith("the context of task 101 is sealed already: ")
    assert "`taskstate context rebuild 101` seals again" in refused
    assert sources.text.count("content_sha") == 2


def test_init_in_json(cli: Cli, sources: Place) -> None:
    """A program gets the seal, the parts and the remarks."""
    data = cli.json("context", "init", "101", "--shorten")
    assert (data["path"], data["changed"], len(data["seal"]), len(data["parts"])) == (STATE, True, 64, 9)
    assert data["parts"][0] == {"part": "title", "captured": "JWT Service", "from": NAME}
    assert data["notes"] == [COMMENT, "the task is created, not in_progress: sealed anyway"]
    assert sources.text.count(data["seal"]) == 1


def test_dry_run(cli: Cli, sources: Place) -> None:
    """A dry run prints the diff and writes nothing, the first time and when rebuilding."""
    before = tree(sources.root)
    assert "\n+  seal: " in cli.ok("context", "init", "101", "--dry-run")
    assert tree(sources.root) == before
    cli.ok("context", "init", "101")
    write(sources, NAME, TASK_FILE.replace("Keys rotate.", "Keys turn."))
    before = tree(sources.root)
    assert "\n+Issue and verify tokens. Keys turn.\n" in cli.ok("context", "rebuild", "101", "--dry-run")
    assert tree(sources.root) == before


def test_show(cli: Cli, sources: Place) -> None:
    """The sealed context is printed as text, and in JSON with each part by itself."""
    assert "is not sealed: seal it with `taskstate context init 101`" in cli.refused("context", "show", "101")
    cli.ok("context", "init", "101")
    output = cli.ok("context", "show", "101")
    assert output.startswith("title: JWT Service\npriority: P1\narea: backend\n\n### Task Description\n\nIssue and")
    data = cli.json("context", "show", "101")
    assert data["repository_paths"] == ["pages/*.ts", "src/auth/**", "src/ui/**"]
    assert data["acceptance_criteria"][1] == {"text": "Keys rotate", "checked": False}
    assert data["validation"] == {"commands": ["pytest -q", "ruff check"]}
    assert data["context"]["seal"] in output
    assert data["warnings"] == []
    assert sources.text.count(data["context"]["seal"]) == 1


def test_check(cli: Cli, sources: Place) -> None:
    """Exit status 0 while all holds, 1 with what does not, and what to do."""
    cli.ok("context", "init", "101")
    assert cli.ok("context", "check", "101") == f"{STATE}: the context holds\n"
    write(sources, "standards/backend.md", STANDARD.replace("75", "50"))
    result = cli("context", "check", "101")
    assert (result.status, result.err) == (1, "")
    assert result.out == (
        f"{STATE}: TS602 standards/backend.md#handlers has changed since it was cited "
        "(aa1e9efb340edca8 then, 64a0b1c426a326c8 now)\n"
        '  help: `taskstate context rebuild 101 --note "WHY"`\n'
    )
    data = cli.json("context", "check", "101", status=1)
    assert (data["holds"], [each["code"] for each in data["findings"]]) == (False, ["TS602"])


def test_rebuild_shows_what_it_changes(cli: Cli, sources: Place) -> None:
    """The diff is printed before the table; where nothing changes, that is reported."""
    assert "is not sealed" in cli.refused("context", "rebuild", "101")
    cli.ok("context", "init", "101")
    assert cli.ok("context", "rebuild", "101").startswith(f"{STATE}: nothing to change\n")
    write(sources, "standards/backend.md", STANDARD.replace("75", "50"))
    output = cli.ok("context", "rebuild", "101")
    assert '+    "requirement": "Handlers stay under 50 lines.",\n' in output
    assert output.index("+++ b/") < output.index(f"{STATE}: sealed again\n\nPART ")
    assert cli.ok("context", "check", "101").endswith("the context holds\n")


def test_task_file_may_lie_elsewhere(cli: Cli, sources: Place) -> None:
    """`--from` names another task file, from where one stands; outside the repository it is refused."""
    write(sources, "plans/new.yaml", TASK_FILE)
    cli.ok("context", "init", "101", "--from", "plans/new.yaml")
    assert " task_file: plans/new.yaml, " in sources.text
    (sources.root / "plans/new.yaml").rename(sources.root / "plans/newer.yaml")
    gone = "plans/new.yaml does not exist: name where it is now: `taskstate context rebuild 101 --from FILE`"
    assert gone in cli.refused("context", "rebuild", "101")
    cli.monkeypatch.chdir(sources.root / "plans")
    cli.ok("context", "rebuild", "101", "--from", "newer.yaml")
    assert " task_file: plans/newer.yaml, " in sources.text
    outside = sources.root.parent / "x.yaml"
    outside.write_text(TASK_FILE, encoding="utf-8")
    assert "lies outside the repository" in cli.refused("context", "rebuild", "101", "--from", outside)


def test_revision_is_compared(cli: Cli, sources: Place) -> None:
    """A file that is no longer at the expected revision is not sealed, and no artifact is left."""
    assert "is at revision 1-" in cli.refused("context", "init", "101", "--expect-revision", "7")
    assert not (sources.root / ".taskstate/artifacts/task-101").exists()


def broken_front_matter(text: str) -> str:
    """Return a state file's text with a slip in its front matter."""
    return text.replace("title: JWT Service", "title: JWT: Service")


def test_a_front_matter_that_cannot_be_read_is_an_error(cli: Cli, sources: Place) -> None:
    """Where a value cannot be read, that is an error: neither an unsealed context nor an empty export is reported."""
    cli.ok("context", "init", "101")
    sources.text = broken_front_matter(sources.text)
    for command in (("show", "101"), ("check", "101"), ("export", "101", "--role", "reviewer"), ("budget", "101")):
        result = cli("context", *command)
        damage, error = result.err.splitlines()
        assert (result.status, result.out) == (1, "")
        assert damage.startswith(f"{STATE} is damaged: line 4: ")
        assert error.startswith(f"taskstate: {STATE}, line 4: ")
        assert error.endswith(": fix it; `taskstate lint` says how")


def test_a_broken_seal_is_told(cli: Cli, sources: Place) -> None:
    """What is shown is not taken for what was sealed, and none of it is exported."""
    cli.ok("context", "init", "101")
    sources.text = sources.text.replace("Keys rotate.", "Keys turn.")
    message = "the seal is broken: this is not what was sealed; see `taskstate context check 101`"
    result = cli("context", "show", "101")
    assert (result.status, result.err) == (0, f"{message}\n")
    assert cli.json("context", "show", "101")["warnings"] == [message]
    error = cli.refused("context", "export", "101", "--role", "reviewer")
    assert "section 1 is not as it was sealed" in error
    assert '`taskstate context rebuild 101 --note "WHY"` seals what is there now' in error


def damaged(place: Place) -> int:
    """Take a comma out of the fence of Standards, and return the line at which that begins."""
    before, fence, after = place.text.partition("### Standards\n\n```json\n")
    place.text = before + fence + after.replace('",\n', '"\n', 1)
    return (before + fence).count("\n")


def test_a_damaged_fence_is_no_empty_list(cli: Cli, sources: Place) -> None:
    """Citations that cannot be read are reported as that, by whatever hands them on."""
    cli.ok("context", "init", "101")
    line = damaged(sources)
    message = f"{STATE}, line {line}: the fence of citations cannot be used: "
    assert cli.refused("context", "export", "101", "--role", "reviewer").startswith(message)
    assert cli.refused("context", "budget", "101").startswith(message)
    assert "- cannot be read: the fence of citations cannot be used: " in cli.ok("brief", "101")
    findings = cli.json("context", "check", "101", status=1)["findings"]
    assert [each["code"] for each in findings] == ["TS005", "TS601"]
    assert findings[0]["help"].endswith('or make it again with `taskstate context rebuild 101 --note "WHY"`')


def test_a_damaged_fence_is_made_anew(cli: Cli, sources: Place) -> None:
    """What the sources still say is captured again; a remark says that more may be lost."""
    cli.ok("context", "init", "101")
    sealed = sources.text[sources.text.index("### Task") :]
    damaged(sources)
    output = cli.ok("context", "rebuild", "101")
    assert "made again from taskstate.toml; what only stood there is gone, see the diff" in output
    assert sources.text.endswith(sealed)
    assert cli.ok("context", "check", "101").endswith("the context holds\n")


def test_a_damaged_fence_without_sources_stays(cli: Cli, sources: Place) -> None:
    """Where section 1 alone says what is cited, nothing is made up; a hash that is none is computed again."""
    cli.ok("context", "init", "101")
    write(sources, "taskstate.toml", "")
    whole = sources.text
    damaged(sources)
    output = cli.refused("context", "rebuild", "101")
    assert output.endswith(": fix it, or restore it from git: section 1 alone says what it held")
    sources.text = whole.replace('"content_sha": "', '"content_sha": "x')
    write(sources, "taskstate.toml", SETTINGS)
    assert "cannot be used" in cli.refused("context", "export", "101", "--role", "reviewer")
    cli.ok("context", "rebuild", "101")
    assert cli.ok("context", "check", "101").endswith("the context holds\n")


def test_empty_values_are_refused(cli: Cli, sources: Place) -> None:
    """A flag that is given nothing, as by an unset variable, is not taken for left out."""
    before = sources.text
    assert cli.refused("context", "init", "101", "--base-commit", "").startswith("--base-commit is empty: ")
    assert cli.refused("context", "init", "101", "--from", "").startswith("--from is empty: ")
    assert cli.refused("context", "init", "101", "--from", "-").startswith("--from - would read the task file")
    assert sources.text == before


def test_an_export_is_refreshed_in_its_place(cli: Cli, sources: Place) -> None:
    """The file among the artifacts is made anew, or made, with its hash in the manifest: `context check` is content."""
    cli.ok("context", "init", "101")
    folder = sources.workspace.state_root / "artifacts/task-101"
    export = folder / "context-reviewer.json"
    for text in ("{}", "no JSON", None):
        export.write_text(text, encoding="utf-8") if text else export.unlink()
        force = ["--force"] if text == "no JSON" else []
        cli.ok("context", "export", "101", "--role", "reviewer", "--output", export, *force)
        assert export.read_text(encoding="utf-8") == cli.ok("context", "export", "101", "--role", "reviewer")
        assert "the context holds" in cli.ok("context", "check", "101")
    cli.ok("context", "export", "101", "--role", "validator", "--output", export)
    assert "context-reviewer.json was changed after it was written" in cli("context", "check", "101").out
    (folder / "manifest.json").unlink()
    cli.ok("context", "export", "101", "--role", "reviewer", "--output", export)
    assert not (folder / "manifest.json").exists()
