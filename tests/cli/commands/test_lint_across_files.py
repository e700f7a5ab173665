from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from taskstate.model import chain
from taskstate.model.task_state import read_state
from taskstate.syntax.document import parse
from tests.support.place import Place, said, tree

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli

ACROSS = {"TS011", "TS407", "TS410", "TS902", "TS903", "TS904", "TS905"}
OUTPUT = (
    "### Summary\n\nTokens are issued.\n\n    indented stays\n\n"
    "### API Contract\n\n```python\ndef verify(token: str) -> bool: ...\n\n### Session 9\n```\n"
)


@pytest.fixture
def place(repository: Path) -> Place:
    """Return a git repository with task 101."""
    return Place(repository)


def state(place: Place, task: str) -> Path:
    """Return the state file of a task."""
    return place.workspace.tasks / f"task-{task}-state.md"


def edit(path: Path, *pairs: tuple[str, str]) -> None:
    """Replace words in a file by hand."""
    text = path.read_bytes().decode()
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    path.write_bytes(text.encode())


def complete(place: Place, task: str = "101", output: str = OUTPUT) -> None:
    """Complete a task by hand, with an output."""
    path = state(place, task)
    text = path.read_text(encoding="utf-8").replace("status: created", "status: complete")
    text = text.replace("status: in_progress", "status: complete").replace("- [ ]", "- [x]")
    text = text.replace('"passes": false, "tested_at": null', '"passes": true, "tested_at": "2026-01-31T12:00:00Z"')
    text = text[: text.index("## 6. Chain Output")] + f"## 6. Chain Output\n\n{output}"
    path.write_text(text.replace('"overall_progress": "0%"', '"overall_progress": "100%"'), encoding="utf-8")


def found(cli: Cli, *arguments: str | Path) -> list[tuple[str, str]]:
    """Return task and code of what is found across files."""
    findings = cli.json("lint", *arguments, status=cli("lint", *arguments).status)["findings"]
    values = [(re.sub(r".*task-(.+?)-(state|archive)\.md", r"\1", each["path"]), each["code"]) for each in findings]
    return [each for each in values if each[1] in ACROSS]


def inputs(path: Path) -> list[tuple[str, str]]:
    """Return id and hash of each Chain Input in a file."""
    return [(each.id, each.sha) for each in chain.inputs_of(parse(path.read_bytes().decode()))]


def git(place: Place, *arguments: str) -> str:
    """Run git in the repository."""
    return subprocess.run(["git", *arguments], cwd=place.root, check=True, capture_output=True, text=True).stdout


# Outputs and inputs


def test_output_flows_from_one_task_to_the_next(cli: Cli, place: Place) -> None:
    """A new output is missing, `--fix` pulls it, a changed one is stale, and is pulled again; twice changes nothing."""
    place.new("102", depends_on=("101",))
    down = state(place, "102")
    assert found(cli) == []
    complete(place)
    assert found(cli) == [("102", "TS903")]
    assert found(cli, down) == [("102", "TS903")], "a file linted alone reads what it refers to"
    assert "pulled the output of task 101" in cli("lint", "--fix", down).err
    assert found(cli) == []
    text = down.read_text(encoding="utf-8")
    assert "### From Task #101: JWT Service\n\n<!-- taskstate: input 101 r" in text
    assert ">     indented stays\n" in text
    cli("lint", "--fix")
    before = tree(place.root)
    assert cli("lint", "--fix").err == ""
    assert tree(place.root) == before
    edit(state(place, "101"), ("Tokens are issued.", "Tokens are issued and revoked."))
    assert found(cli, down) == [("102", "TS904")]
    cli("lint", "--fix")
    assert found(cli) == []
    assert "revoked" in down.read_text(encoding="utf-8")
    assert down.read_text(encoding="utf-8").count("### From Task #101") == 1
    assert cli("lint", "--fix").err == ""


def test_pulling_keeps_what_people_wrote(cli: Cli, place: Place) -> None:
    """Text around the quote stays, line ends too; what is written again is a write like every other."""
    place.new("102", depends_on=("101",))
    complete(place)
    down = state(place, "102")
    down.write_bytes(down.read_bytes().replace(b"None.\n", b"Mine:\n\n> not the tool's\n").replace(b"\n", b"\r\n"))
    cli("lint", "--fix", down)
    edit(state(place, "101"), ("Tokens are issued.", "Tokens are sent."))
    down.write_bytes(down.read_bytes().replace(b"## 3. Feature", b"Also mine.\r\n\r\n## 3. Feature"))
    cli("lint", "--fix", down)
    text = down.read_bytes().decode()
    assert "\n" not in text.replace("\r\n", "")
    assert "Mine:\r\n\r\n> not the tool's\r\n\r\n### From" in text
    assert "Also mine.\r\n\r\n## 3." in text
    assert "Tokens are sent." in text
    assert read_state(parse(text)).revision == 3
    assert found(cli) == []


def test_diff_shows_what_would_be_pulled(cli: Cli, place: Place) -> None:
    """`--fix --diff` prints the change and writes nothing."""
    place.new("102", depends_on=("101",))
    complete(place)
    before = tree(place.root)
    result = cli("lint", "--fix", "--diff")
    assert "+> Tokens are issued." in result.out
    assert "would pull the output of task 101" in result.err
    assert tree(place.root) == before


def test_only_what_is_selected_is_pulled(cli: Cli, place: Place) -> None:
    """A rule that is ignored pulls nothing, also where another one does."""
    place.new("100", title="Schema")
    place.new("102", depends_on=("100", "101"))
    complete(place)
    cli("lint", "--fix")
    edit(state(place, "101"), ("Tokens are issued.", "Tokens are sent."))
    complete(place, "100")
    assert found(cli) == [("102", "TS903"), ("102", "TS904")]
    cli("lint", "--fix", "--ignore", "TS904")
    assert found(cli) == [("102", "TS904")]


def test_large_output_is_cut(cli: Cli, place: Place) -> None:
    """An input keeps to its limit, and names the command that shows the rest."""
    place.new("102", depends_on=("101",))
    complete(place, output=OUTPUT + "\n### Notes for all\n\n" + "a long line of notes\n" * 400)
    cli("lint", "--fix")
    text = state(place, "102").read_text(encoding="utf-8")
    assert "`taskstate chain output 101`" in text
    assert "def verify" in text
    assert 0 < text.count("a long line") < 400
    assert "…" in text
    assert found(cli) == []


def test_new_task_begins_with_its_inputs(cli: Cli, place: Place) -> None:
    """`new --depends-on` takes over the outputs that are there, in the order of the ids."""
    place.new("20", title="Schema (v2)")
    place.new("100", title="Open")
    complete(place, "20")
    complete(place)
    cli.ok("new", "102", "--title", "T", "--depends-on", "101", "--depends-on", "100", "--depends-on", "20")
    down = state(place, "102")
    assert [task for task, _ in inputs(down)] == ["20", "101"]
    assert "None." not in down.read_text(encoding="utf-8").split("## 2.")[1].split("## 3.")[0]
    assert cli.json("lint", down)["findings"] == []
    cli.ok("fmt", "--check", down)


def test_output_that_cannot_be_taken_over_is_told(cli: Cli, place: Place) -> None:
    """Control characters are not pulled: one line, and nothing changed."""
    place.new("102", depends_on=("101",))
    complete(place, output=OUTPUT.replace("Tokens", "\x1b]0;owned\x07Tokens"))
    before = state(place, "102").read_bytes()
    result = cli("lint", "--fix", state(place, "102"))
    assert "not pulled: the output of task 101 holds U+001B" in result.err
    assert state(place, "102").read_bytes() == before


def test_open_comment_in_the_inputs_keeps_the_output_out(cli: Cli, place: Place) -> None:
    """What would swallow the pulled text is reported, and nothing is lost."""
    place.new("102", depends_on=("101",))
    complete(place)
    down = state(place, "102")
    edit(down, ("None.\n", "<pre>\nopen\n"))
    before = down.read_bytes()
    cli("lint", "--fix", "--select", "TS903", down)
    assert down.read_bytes() == before


def test_staged_text_counts(cli: Cli, place: Place) -> None:
    """With --staged it is the index that is read, of the upstream task too."""
    place.new("102", depends_on=("101",))
    git(place, "add", "-A")
    git(place, "commit", "-qm", "tasks")
    complete(place)
    assert found(cli, "--staged") == []
    git(place, "add", "-A")
    assert found(cli, "--staged") == [("102", "TS903")]


# Upstream tasks that are not as they should be


@pytest.mark.parametrize("data", [b"\xff\xfe", b"", b"---\nstatus: [\n", b"no front matter", b"\0"])
def test_broken_upstream_file_is_not_unknown(cli: Cli, place: Place, data: bytes) -> None:
    """A file that cannot be read is there nevertheless."""
    place.new("102", depends_on=("101",))
    place.path.write_bytes(data)
    assert found(cli) == []
    assert cli("lint", "--fix", state(place, "102")).status == 0


def test_link_that_leads_nowhere_is_not_unknown(cli: Cli, place: Place) -> None:
    """A state file that is a link is reported where it is read, and nowhere else."""
    place.new("102", depends_on=("101",))
    place.path.unlink()
    place.path.symlink_to("nowhere")
    assert found(cli, state(place, "102")) == []


def test_excluded_file_is_no_task(cli: Cli, place: Place) -> None:
    """What the configuration excludes is none of the repository's tasks, and nothing is pulled from it."""
    place.new("102", depends_on=("101",))
    complete(place)
    place.configure('exclude = ["**/task-101-state.md"]\n')
    assert found(cli) == [("102", "TS902")]


def test_unknown_upstream_is_told_until_it_comes(cli: Cli, place: Place) -> None:
    """The cache knows on what a finding rested: when the task is created, it goes."""
    edit(place.path, ("created_at:", 'depends_on: ["7"]\ncreated_at:'))
    assert found(cli) == found(cli) == [("101", "TS902")]
    place.new("7")
    assert found(cli) == found(cli) == []
    state(place, "7").rename(place.root / "task-7-state.md")
    assert found(cli) == []
    (place.root / "task-7-state.md").unlink()
    assert found(cli) == [("101", "TS902")]


def test_circle_is_told_by_each_of_its_members(cli: Cli, place: Place) -> None:
    """Linted together or alone, with the cache or without; when one leaves, all are well."""
    place.new("102", depends_on=("101",))
    place.new("103", depends_on=("102",))
    place.new("104", depends_on=("103",))
    assert found(cli) == []
    edit(place.path, ("created_at:", 'depends_on: ["103"]\ncreated_at:'))
    circle = [("101", "TS905"), ("102", "TS905"), ("103", "TS905")]
    assert found(cli) == found(cli) == found(cli, "--no-cache") == circle
    assert found(cli, state(place, "102")) == [("102", "TS905")]
    assert "101 → 103 → 102 → 101" in cli("lint", place.path).out
    edit(state(place, "103"), ('depends_on: ["102"]', "depends_on: []"))
    assert found(cli) == []


def test_same_id_in_two_places(cli: Cli, place: Place) -> None:
    """A copy in another folder, and an id in another case, are reported in each of the files; archives are not."""
    copy = place.root / "docs" / "task-101-state.md"
    copy.parent.mkdir()
    copy.write_bytes(place.path.read_bytes())
    assert found(cli) == [("101", "TS011"), ("101", "TS011")]
    assert found(cli, copy) == [("101", "TS011")]
    copy.rename(copy.with_name("task-101-archive.md"))
    assert found(cli) == []
    place.new("auth-1")
    copy.with_name("task-AUTH-1-state.md").write_bytes(
        state(place, "auth-1").read_bytes().replace(b"auth-1", b"AUTH-1")
    )
    assert sorted(found(cli)) == [("AUTH-1", "TS011"), ("auth-1", "TS011")]


# The archive


@pytest.fixture
def archived(place: Place) -> Place:
    """Return a repository whose task was archived twice."""
    place.fill(*range(1, 6))
    place.archive(keep=3)
    place.add("More.")
    place.archive(keep=1)
    return place


def test_archive_of_the_tool_is_right(cli: Cli, archived: Place) -> None:
    """What the tool archives, once and again, agrees; so does what it archives with a gap in the numbers."""
    assert found(cli) == []
    archived.text = archived.text.replace("### Session 6", "### Session 8")
    archived.add("After the gap.")
    archived.archive(keep=1)
    assert found(cli) == []


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_altered_archive_is_told_in_the_archive(cli: Cli, archived: Place, newline: str) -> None:
    """A changed word in an entry is reported once, in the archive file; changed line ends are none."""
    text = archived.archived
    archived.archive_path.write_bytes(text.replace("\n", newline).encode())
    assert found(cli) == []
    archived.archive_path.write_bytes(text.replace("did 4", "did four").replace("\n", newline).encode())
    assert found(cli) == [("101", "TS407")]
    assert found(cli, archived.archive_path) == [("101", "TS407")]
    assert found(cli, archived.path) == []


def test_archive_that_is_gone(cli: Cli, archived: Place) -> None:
    """A missing archive is reported; one that cannot be read is reported there alone."""
    text = archived.archive_path.read_bytes()
    archived.archive_path.write_bytes(b"\xff")
    assert found(cli) == []
    archived.archive_path.unlink()
    assert found(cli) == [("101", "TS407")]
    archived.archive_path.write_bytes(text)
    assert found(cli) == []


def test_batch_that_is_gone(cli: Cli, archived: Place) -> None:
    """A batch cut from the archive is missed, the first and the last one."""
    text = archived.archived
    (first,) = (match.end() for match in list(re.finditer(r"^- 2: \w+\n", text, re.MULTILINE)))
    archived.archive_path.write_text(text[:first], encoding="utf-8")
    assert found(cli) == [("101", "TS407")]
    archived.archive_path.write_text(text[: text.index("## Session 1")] + text[first:], encoding="utf-8")
    assert found(cli) == [("101", "TS407")]


def test_session_in_both_files(cli: Cli, archived: Place) -> None:
    """A session pasted back from the archive without its summary's number is in both."""
    archived.text = re.sub(r"### Archived Summary.*?(?=### Session)", "", archived.text, flags=re.DOTALL)
    archived.fill(5)
    assert ("101", "TS407") in found(cli)


def test_archive_rewritten_since_the_compared_revision(cli: Cli, archived: Place) -> None:
    """An entry altered together with its hash is seen against the revision that has the true one."""
    git(archived, "add", "-A")
    git(archived, "commit", "-qm", "archived")
    assert found(cli, "--against", "HEAD") == []
    text = archived.archived.replace("did 4", "did four")
    old = re.search(r"^- 4: (\w+)$", text, re.MULTILINE)
    assert old
    from taskstate.model.archive_format import batch_contents

    new = next(each.sha for batch in batch_contents(text) for each in batch.entries if each.number == 4)
    archived.archive_path.write_text(text.replace(old[1], new), encoding="utf-8")
    assert found(cli, "--against", "none") == []
    assert found(cli, "--against", "HEAD") == [("101", "TS407")]


# Commits


def test_commits_are_looked_up(cli: Cli, place: Place) -> None:
    """Commits of the history and of sessions that git does not have are reported, abbreviated ones too."""
    git(place, "add", "-A")
    git(place, "commit", "-qm", "start")
    head = git(place, "rev-parse", "HEAD").strip()
    place.add("Worked.", commits=(head[:7],))
    edit(
        place.path,
        (f"**Commits:** `{head[:10]}`", f"**Commits:**\n\n- `{head[:7]}`\n- `0badc0de`"),
        ("## 5. Git History\n", f"## 5. Git History\n\n- `{head}` - start\n- `feedbeef` - gone\n"),
    )
    assert found(cli) == found(cli) == [("101", "TS410"), ("101", "TS410")]
    assert found(cli, "--staged") == []


def test_id_of_several_commits_is_not_missing(cli: Cli, place: Place) -> None:
    """An id that is cut too short is another user's shorthand, and no unknown commit."""
    commit = "commit refs/heads/b{0}\ncommitter S <s@example.invalid> {1} +0000\ndata 1\nx\n\n"
    stream = "".join(commit.format(number, 1000 + number) for number in range(700))
    subprocess.run(["git", "fast-import", "--quiet"], cwd=place.root, input=stream, text=True, check=True)
    ids = git(place, "for-each-ref", "--format=%(objectname)").split()
    short = next(each[:4] for each in ids if sum(other.startswith(each[:4]) for other in ids) > 1)
    edit(place.path, ("## 5. Git History\n", f"## 5. Git History\n\n- `{short}` - one of them\n- `feedbeef` - gone\n"))
    assert found(cli) == [("101", "TS410")]
    assert "feedbeef" in cli("lint").out


def test_shallow_clone_says_nothing_of_commits(cli: Cli, place: Place, tmp_path: Path) -> None:
    """Where git has only the newest commits, an unknown one may be an old one."""
    edit(place.path, ("## 5. Git History\n", "## 5. Git History\n\n- `feedbeef` - gone\n"))
    for message in ("one", "two"):
        git(place, "add", "-A")
        git(place, "commit", "-qm", message, "--allow-empty")
    git(place, "clone", "-q", "--depth=1", place.root.as_uri(), str(tmp_path / "clone"))
    assert found(cli, "--root", tmp_path / "clone", tmp_path / "clone") == []
    assert found(cli) == [("101", "TS410")]


def test_file_of_sessions_as_people_write_them(cli: Cli, place: Place) -> None:
    """A repository that people and the tool made together has no finding across files."""
    place.new("102", depends_on=("101",))
    place.fill(log=f"### Session 1 - 2026-01-05 10:00\n\n{said(1)}\n\n**Commits:** none yet\n\n")
    complete(place)
    cli("lint", "--fix")
    assert found(cli) == []
