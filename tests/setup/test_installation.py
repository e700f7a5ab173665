from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.autosave import consent, notes
from taskstate.errors import TaskstateError
from taskstate.setup import merging, rules, servers
from taskstate.setup.clients import CLIENTS, EVENTS, OF_AUTOSAVE, hooks_of
from taskstate.setup.installation import Wanted, install, remove
from taskstate.setup.merging import BEGIN, END
from taskstate.setup.pre_commit import PRE_COMMIT
from taskstate.setup.repository import RECORD
from taskstate.syntax.json_comments import comments, without_comments
from taskstate.version import VERSION
from taskstate.workspace.workspace import find_workspace
from tests.support.git_place import GitPlace
from tests.support.place import refusal, tree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from taskstate.setup.installation import Installed

ALL = Wanted(
    tuple(CLIENTS), pre_commit=True, ci="pip install taskstate", verification=True, allow=True, autosave="words"
)
SETTINGS = '{\n    "permissions": {"allow": ["Bash(ls)"]},\n    "hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}\n}\n'
# Configurations as people have them, by path.
MINE = {
    ".claude/settings.json": [
        SETTINGS,
        "{}",
        "{ }\n",
        '{"hooks": {}}',
        '\ufeff{"a": 1}',
        SETTINGS.replace("\n", "\r\n"),
        '{\n\t"hooks": {\n\t\t"Stop": []\n\t}\n}',
        '// a\n{\n  /* b */ "x": 1, // c\n  // d\n}\n',
        '{\r\n  "x": "// no", "hooks": {"Stop": [ // a\r\n  ], /* b\r\n */ } // c\r\n}',
    ],
    ".mcp.json": ['{"mcpServers": {"other": {"command": "x"}}}', '{"mcpServers": {}}\n', '{\n  "x": 1\n}'],
    ".cursor/hooks.json": ['{"version": 1, "hooks": {"stop": [{"command": "./x"}]}}\n'],
    ".codex/config.toml": [
        'model = "x"',
        '# mine\r\n[mcp_servers.other]\r\ncommand = "y"\r\n',
        "",
        "mcp_servers = {}\n",
        'a = 1\nmcp_servers = { x = { url = "y" } }',
    ],
    ".gemini/settings.json": [
        '{"hooks": {"enabled": true}, "theme": "x"}',
        '{"context": {"fileName": "MINE.md"}, "tools": {"allowed": []}}',
        '{\n  "context": {\n    "fileName": [\n      "MINE.md" // read\n    ]\n  }\n}',
    ],
    ".cursor/cli.json": ['{"permissions": {"allow": ["Shell(ls)"], "deny": []}}'],
    "CLAUDE.md": ["# Mine\n", "@AGENTS.md\n", "", "no end"],
    "GEMINI.md": ["# Mine\n", "@./AGENTS.md\n"],
    "AGENTS.md": ["# Mine\n", "no end", "a\r\nb\r\n", "\n\n"],
    PRE_COMMIT: ["repos:\n- repo: https://example.invalid/x\n  rev: v1\n  hooks:\n  - id: one\n# end\nci: {}\n"],
    ".gitignore": ["*.pyc", ".taskstate/lock\n"],
    ".github/workflows/taskstate.yml": ["name: mine\n"],
}


def set_up(root: Path, wanted: Wanted = ALL, *, dry_run: bool = False) -> Installed:
    """Set a repository up."""
    return install(find_workspace(root, root=str(root)), wanted, dry_run=dry_run)


def take_out(root: Path, *, dry_run: bool = False) -> Installed:
    """Take out what was set up."""
    return remove(find_workspace(root, root=str(root)), dry_run=dry_run)


def put(root: Path, name: str, text: str) -> Path:
    """Write a file byte for byte."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def read(path: Path) -> Any:  # noqa: ANN401 - any JSON
    """Return the values of a JSON file."""
    return json.loads(without_comments(path.read_text(encoding="utf-8-sig")))


def said(path: Path) -> list[str]:
    """Return the comments of a JSON file."""
    text = path.read_bytes().decode()
    return [text[each.start : each.end] for each in comments(text)]


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in MINE.items() for text in texts])
def test_what_is_put_in_is_taken_out(repository: Path, name: str, text: str) -> None:
    """Whatever stands in a file stays, a second run changes nothing, and `remove` brings every byte back."""
    path = put(repository, name, text)
    before = tree(repository)
    set_up(repository)
    values = text.removeprefix("\ufeff")
    if name.endswith(".json"):
        merged = {"hooks", "mcpServers", "permissions", "tools", "context"}
        mine = {key: value for key, value in json.loads(without_comments(values)).items() if key not in merged}
        spans = comments(text)
        assert [text[each.start : each.end] for each in spans] == said(path)
        assert mine == {key: read(path)[key] for key in mine}
    after = tree(repository)
    again = set_up(repository)
    assert (again.created, again.changed, again.diff) == ((), (), "")
    assert tree(repository) == after
    take_out(repository)
    assert tree(repository) == before
    assert path.read_bytes() == text.encode()


@pytest.mark.parametrize("name", CLIENTS)
def test_client_is_set_up(repository: Path, name: str) -> None:
    """Each event of the client has the hook that is meant for it, and the server is there."""
    set_up(repository, Wanted((name,)))
    client = CLIENTS[name]
    text = json.dumps(read(repository / client.hook_file))
    called = {event for event in EVENTS if f"taskstate hook {event} --agent {name}" in text}
    assert called == set(client.hooks) - set(OF_AUTOSAVE)
    config = (repository / client.mcp_file).read_text(encoding="utf-8")
    is_toml = client.mcp_file.endswith(".toml")
    servers = tomllib.loads(config)["mcp_servers"] if is_toml else json.loads(config)["mcpServers"]
    assert servers == {"taskstate": {"command": "taskstate", "args": ["mcp"], **client.server}}
    assert BEGIN in (repository / "AGENTS.md").read_text(encoding="utf-8")
    assert (repository / "CLAUDE.md").exists() is (name == "claude")


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name in MINE if name.endswith(("s.json",)) for text in ("", *MINE[name])]
)
def test_hooks_of_autosave_come_and_go_with_a_persons_word(repository: Path, name: str, text: str) -> None:
    """What a person says adds them for all clients that are set up, and taking it back leaves each byte as it was."""
    if text:
        put(repository, name, text)
    set_up(repository, Wanted(tuple(CLIENTS)))
    before = tree(repository)
    done = set_up(repository, Wanted(autosave="facts"))
    assert {*done.changed} == {".claude/settings.json", ".codex/hooks.json", ".gemini/settings.json"}
    texts = {client.name: json.dumps(read(repository / client.hook_file)) for client in CLIENTS.values()}
    assert all(f"hook {event} --agent {each}" in texts[each] for each in CLIENTS for event in CLIENTS[each].hooks)
    assert set_up(repository, Wanted()).changed == ()
    given = tree(repository)
    assert set_up(repository, Wanted(autosave="off"), dry_run=True).changed == done.changed
    assert tree(repository) == given
    assert set_up(repository, Wanted(autosave="off")).changed == done.changed
    assert tree(repository) == before
    assert set_up(repository, Wanted()).changed == ()


@pytest.mark.parametrize(("name", "event", "seconds"), [("claude", "SessionEnd", 5), ("codex", "SessionEnd", 3)])
def test_an_end_has_a_time_of_its_own(name: str, event: str, seconds: int) -> None:
    """A client waits for the end of a session as long as the entry says, and refuses to wait longer than it does."""
    ((entry,), (other,)) = (hooks_of(CLIENTS[name], autosave=True)[each] for each in (event, "PreCompact"))
    assert (entry["hooks"][0]["timeout"], other["hooks"][0]["timeout"]) == (seconds, 20)


def test_a_client_that_comes_later_gets_them_too(repository: Path) -> None:
    """Once it is allowed, each further client has the events of autosave; without a client a line says so."""
    assert any("no client calls us here" in each for each in set_up(repository, Wanted(autosave="facts")).lacking)
    set_up(repository, Wanted(("gemini",)))
    assert "hook session-end" in (repository / ".gemini/settings.json").read_text(encoding="utf-8")


def test_an_agents_word_changes_nothing(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a client's environment nothing is written and nothing allowed; to take it back is anybody's."""
    set_up(repository, Wanted(("claude",)))
    before = tree(repository)
    monkeypatch.setenv("CLAUDECODE", "1")
    with pytest.raises(TaskstateError, match="an agent cannot allow"):
        set_up(repository, Wanted(autosave="facts"))
    assert tree(repository) == before
    assert consent.level(repository) == "off"
    set_up(repository, Wanted(autosave="off"))


def test_what_is_kept_goes_with_the_set_up(tmp_path: Path) -> None:
    """`remove` deletes notes and drafts of each worktree, and what the person said; a dry run deletes nothing."""
    place = GitPlace(tmp_path / "place")
    set_up(place.root, Wanted(("claude",), autosave="words"))
    place.commit("set up")
    place.git("worktree", "add", "--quiet", str(tmp_path / "other"))
    trees = [find_workspace(each, root=str(each)) for each in (place.root, tmp_path / "other")]
    for each in trees:
        notes.update(each.private, "claude", "a", lambda note: note._replace(task="101"))
        put(each.private.write or tmp_path, "drafts/1.json", "{}")
    take_out(place.root, dry_run=True)
    assert [len(notes.all_notes(each.private)) for each in trees] == [1, 1]
    take_out(place.root)
    assert [[*each.private.files(kind)] for each in trees for kind in ("sessions", "drafts")] == [[]] * 4
    assert consent.level(place.root) == "off"


def test_pages_of_other_clients_are_added_to_where_they_are(repository: Path) -> None:
    """CLAUDE.md and GEMINI.md get the block if they are there."""
    put(repository, "GEMINI.md", "# Mine\n")
    set_up(repository, Wanted(("generic",)))
    assert END in (repository / "GEMINI.md").read_text(encoding="utf-8")
    assert not (repository / ".claude").exists()


@pytest.mark.parametrize("name", CLIENTS)
def test_hooks_without_the_program_are_silent(repository: Path, name: str) -> None:
    """In a clone whose owner has no taskstate, or one that cannot be started, each hook ends well without a word."""
    set_up(repository, Wanted((name,)))
    bare = {"PATH": str(repository.parent / "tools")}
    put(repository.parent, "tools/x", "")
    for command in commands_in(read(repository / CLIENTS[name].hook_file)):
        done = subprocess.run(["/bin/sh", "-c", command], env=bare, input=b"{}", capture_output=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), command
        put(repository.parent, "tools/taskstate", "#!/nonexistent/python\n").chmod(0o755)
        done = subprocess.run(["/bin/sh", "-c", command], env=bare, input=b"{}", capture_output=True, check=False)
        assert (done.returncode, done.stdout) == (0, b""), command
        put(repository.parent, "tools/taskstate", '#!/bin/sh\necho "$*"\n').chmod(0o755)
        done = subprocess.run(["/bin/sh", "-c", command], env=bare, input=b"{}", capture_output=True, check=False)
        assert done.stdout.decode().startswith("hook ")
        (repository.parent / "tools/taskstate").unlink()


def commands_in(values: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON
    """Yield the commands in a client's configuration."""
    parts = values.values() if isinstance(values, dict) else values if isinstance(values, list) else ()
    if isinstance(values, dict) and isinstance(values.get("command"), str) and "hook" in values["command"]:
        yield values["command"]
    for part in parts:
        yield from commands_in(part)


def test_hooks_of_earlier_versions_are_brought_up_to_date(repository: Path) -> None:
    """A plain command becomes the neutral one, one that somebody changed stays, and none stands there twice."""
    set_up(repository, Wanted(("claude",)))
    path = repository / ".claude/settings.json"
    expected = path.read_text(encoding="utf-8")
    plain = expected.replace("command -v taskstate >/dev/null 2>&1 || exit 0; ", "").replace(" || exit 0", "")
    mine = "taskstate hook after-edit --agent claude --fix"
    path.write_text(plain.replace("taskstate hook after-edit --agent claude", mine), encoding="utf-8")
    set_up(repository, Wanted(("claude",)))
    commands = [*commands_in(read(path))]
    assert sorted(commands) == sorted(
        mine if "after-edit" in each else each for each in commands_in(json.loads(expected))
    )
    take_out(repository)
    assert not path.exists()


def test_server_that_cannot_start_is_left_out(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra there is no server, and a line says what to install; hooks and the rest are there."""
    monkeypatch.setitem(sys.modules, "mcp", None)
    done = set_up(repository, Wanted(("claude", "codex")))
    assert "taskstate[mcp]" in done.lacking[0]
    assert not (repository / ".mcp.json").exists()
    assert (repository / ".codex/hooks.json").exists()
    monkeypatch.undo()
    again = set_up(repository, Wanted())
    assert ".mcp.json" in again.created
    assert not any("mcp" in each for each in again.lacking)


def test_own_server_of_that_name_is_kept(repository: Path) -> None:
    """An entry that somebody wrote is not replaced, and not taken out."""
    path = put(repository, ".mcp.json", '{"mcpServers": {"github": {"command": "mine"}}}')
    set_up(repository, Wanted(("claude",), verification=True))
    assert read(path)["mcpServers"]["github"] == {"command": "mine"}
    take_out(repository)
    assert path.read_text(encoding="utf-8") == '{"mcpServers": {"github": {"command": "mine"}}}'


def test_verification_servers_are_pinned(repository: Path) -> None:
    """Each server has a version: what an agent may run does not change by itself."""
    set_up(repository, Wanted(("claude",), verification=True))
    servers = read(repository / ".mcp.json")["mcpServers"]
    assert servers["playwright"]["args"][1].startswith("@playwright/mcp@0.")
    assert servers["github"]["args"][-1].startswith("ghcr.io/github/github-mcp-server:v")


def test_edited_since(repository: Path) -> None:
    """Entries that people added, and another layout, do not keep ours from being taken out."""
    set_up(repository, Wanted(("claude",)))
    path = repository / ".claude/settings.json"
    values = read(path)
    values["permissions"] = {"allow": []}
    values["hooks"]["Stop"].insert(0, {"hooks": [{"type": "command", "command": "mine"}]})
    path.write_text(json.dumps(values, indent=4), encoding="utf-8")
    page = repository / "AGENTS.md"
    page.write_text("# New\n\n" + page.read_text(encoding="utf-8").replace("Begin:", "Start:"), encoding="utf-8")
    take_out(repository)
    mine = {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}
    assert read(path) == {"hooks": mine, "permissions": {"allow": []}}
    assert page.read_text(encoding="utf-8") == "# New\n\n"
    assert not (repository / ".mcp.json").exists()


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('{"a": 1, // mine\n"mcpServers": {"taskstate": OURS} /* b */}', '{"a": 1 // mine\n /* b */}'),
        ('{"mcpServers": {"taskstate": OURS, // mine\n"x": {}}}', '{"mcpServers": { // mine\n"x": {}}}'),
        ('{"mcpServers": {/* c */ "taskstate": OURS,},}', "{ /* c */}"),
    ],
)
def test_comments_stay_where_entries_are_taken_out_one_by_one(text: str, left: str) -> None:
    """In a file that was edited since, what stood beside our entry is not taken out with it."""
    ours = json.dumps(servers.OWN["taskstate"])
    assert merging.without(text.replace("OURS", ours), [merging.Piece("", "gone")], "x.json") == left


def test_killed_write_through_a_link_may_be_finished(repository: Path) -> None:
    """A file to which a link of a client's configuration leads is one that setting up writes; its neighbour is not."""
    (repository / "agents").mkdir()
    (repository / ".claude").symlink_to("agents")
    workspace = find_workspace(repository, root=str(repository))
    assert workspace.may_write("agents/settings.json")
    assert not workspace.may_write("agents/other.json")


def test_edited_lines_that_cannot_be_told_apart_are_refused(repository: Path) -> None:
    """A text file that was edited in the middle of our lines is named, and nothing is taken out of any file."""
    set_up(repository, Wanted())
    path = repository / ".gitattributes"
    path.write_text(path.read_text(encoding="utf-8").replace("task-*-archive.md", "x"), encoding="utf-8")
    before = tree(repository)
    assert ".gitattributes was edited" in str(refusal(lambda: take_out(repository)))
    assert tree(repository) == before


def test_tasks_stay(repository: Path) -> None:
    """What was set up goes, the tasks do not, and neither does a configuration that was changed."""
    set_up(repository, Wanted())
    task = put(repository, ".taskstate/tasks/task-7-state.md", "mine\n")
    assert ".taskstate/tasks/.gitkeep" in take_out(repository).removed
    assert task.read_text(encoding="utf-8") == "mine\n"
    assert not (repository / ".gitattributes").exists()
    assert git(repository, "status", "--porcelain", "-uall").split()[1::2] == [
        ".taskstate/.gitignore",
        ".taskstate/tasks/task-7-state.md",
    ]


def test_nothing_stays_of_a_folder_without_tasks(repository: Path) -> None:
    """The state folder goes with its lock: nothing is there that git had been told to ignore."""
    set_up(repository)
    take_out(repository)
    assert not (repository / ".taskstate").exists()


def git(root: Path, *arguments: str) -> str:
    """Run git, and return what it prints."""
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout


def test_dry_run_shows_the_diff(repository: Path) -> None:
    """A dry run, of setting up and of taking out, shows every line and changes nothing."""
    path = put(repository, ".claude/settings.json", SETTINGS)
    before = tree(repository)
    shown = set_up(repository, dry_run=True)
    assert "+++ b/.claude/settings.json" in shown.diff
    assert '+    "hooks": {"Stop": [{"hooks": [{"command": "x"}]}, ' in shown.diff
    assert tree(repository) == before
    assert subprocess.run(["git", "config", "merge.taskstate.driver"], cwd=repository, check=False).returncode == 1
    set_up(repository)
    after = tree(repository)
    assert "--- a/.mcp.json" in take_out(repository, dry_run=True).diff
    assert tree(repository) == after
    assert path.exists()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".claude/settings.json", "{\n"),
        (".claude/settings.json", "[]"),
        (".claude/settings.json", '{"hooks": []}'),
        (".claude/settings.json", '{"hooks": {"Stop": {}}}'),
        (".claude/settings.json", "{} /* mine"),
        (".mcp.json", '{"mcpServers": 7}'),
        (".codex/config.toml", "'mcp_servers' = {}\n"),
        (".codex/config.toml", "mcp_servers = 5\n"),
        (".codex/config.toml", "mcp_servers = 'taskstate'\n"),
        (".codex/config.toml", "a = \n"),
        ("AGENTS.md", "\udcff"),
    ],
)
def test_other_forms_are_named(repository: Path, name: str, text: str) -> None:
    """A file that cannot be added to safely is named with what is wrong and what to paste; all else is set up."""
    path = repository / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data := text.encode("utf-8", "surrogateescape"))
    done = set_up(repository)
    (refused,) = done.refused
    assert (refused.name, name in refused.why, bool(refused.help)) == (name, True, True)
    assert "taskstate" in refused.paste
    assert path.read_bytes() == data
    assert {each.hook_file for each in CLIENTS.values()} - {name} <= {*done.created}
    take_out(repository)
    assert tree(repository).keys() == {name}


def test_link_that_leads_out_is_named(repository: Path) -> None:
    """A link out of the repository, into git's folder or into the state folder is not followed."""
    target = put(repository.parent, "elsewhere.json", "{}")
    (repository / ".mcp.json").symlink_to(target)
    (repository / "CLAUDE.md").symlink_to(".git/config")
    (repository / "GEMINI.md").symlink_to(".taskstate/tasks/task-1-state.md")
    before = (repository / ".git/config").read_bytes()
    done = install(find_workspace(repository, root=str(repository)), ALL, dry_run=True)
    assert {each.name for each in done.refused} == {".mcp.json", "CLAUDE.md", "GEMINI.md"}
    assert {each.name for each in set_up(repository).refused} >= {".mcp.json", "CLAUDE.md"}
    assert target.read_text(encoding="utf-8") == "{}"
    assert (repository / ".git/config").read_bytes().startswith(before)


@pytest.mark.parametrize(
    "links", [{"CLAUDE.md": "AGENTS.md"}, {"AGENTS.md": "docs/rules.md", "CLAUDE.md": "AGENTS.md"}]
)
@pytest.mark.parametrize("is_there", [True, False])
def test_link_inside_is_followed(repository: Path, links: dict[str, str], *, is_there: bool) -> None:
    """The file that it leads to is added to once, and is as it was afterwards; a folder may be a link, too."""
    (repository / "agents").mkdir()
    (repository / ".claude").symlink_to("agents")
    for name, to in links.items():
        (repository / name).symlink_to(to)
    real = repository / ("docs/rules.md" if len(links) > 1 else "AGENTS.md")
    if is_there:
        put(repository, real.relative_to(repository).as_posix(), "# Rules\n")
    before = tree(repository)
    assert set_up(repository).refused == ()
    assert set_up(repository).diff == ""
    assert all((repository / name).is_symlink() for name in (*links, ".claude"))
    assert real.read_text(encoding="utf-8").count(BEGIN) == 1
    assert (repository / "agents/settings.json").exists()
    take_out(repository)
    assert tree(repository) == before
    assert (repository / "CLAUDE.md").is_symlink()


def test_record_of_a_stranger_changes_nothing_else(repository: Path) -> None:
    """A record that names other files, or nonsense, takes nothing out of them."""
    set_up(repository, Wanted())
    victim = put(repository, "src.py", "a = 1\n")
    path = repository / ".taskstate" / RECORD
    values = read(path)
    values["files"] |= {
        "src.py": {"created": True, "pieces": [["", "a = 1\n"]]},
        "../x": 7,
        ".gitignore": {"pieces": 1},
    }
    path.write_text(json.dumps(values), encoding="utf-8")
    take_out(repository)
    assert victim.read_text(encoding="utf-8") == "a = 1\n"


@pytest.mark.parametrize("name", [name for name, client in CLIENTS.items() if client.leave])
def test_leave_is_given_on_request_alone(repository: Path, name: str) -> None:
    """Without `allow` nothing is let run; with it the client's own list holds our commands; later runs keep that."""
    leave = CLIENTS[name].leave
    assert leave
    set_up(repository, Wanted((name,)))
    path = repository / leave.file
    assert not path.exists() or leave.server not in path.read_text(encoding="utf-8")
    set_up(repository, Wanted(allow=True))
    given = json.loads(path.read_text(encoding="utf-8"))
    for key in leave.path:
        given = given[key]
    assert given == [*rules.rules(name)]
    assert set_up(repository, Wanted(allow=True)).diff == set_up(repository, Wanted()).diff == ""
    take_out(repository)
    assert not tree(repository)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".claude/settings.json", '{"permissions": []}'),
        (".claude/settings.json", '{"permissions": {"allow": {}}}'),
        (".gemini/settings.json", '{"context": {"fileName": {}}}'),
        (".gemini/settings.json", '{"context": 7}'),
    ],
)
def test_lists_in_other_forms_are_named(repository: Path, name: str, text: str) -> None:
    """A setting that is no list is left as it is, and the file named with what to add."""
    path = put(repository, name, text)
    (refused,) = set_up(repository).refused
    assert (refused.name, "taskstate" in refused.paste) == (name, True)
    assert path.read_text(encoding="utf-8") == text


def test_lists_that_were_edited_since(repository: Path) -> None:
    """In another layout our items are taken out one by one; what somebody else put into the lists stays."""
    put(repository, ".claude/settings.json", '{"permissions": {"allow": ["mcp__taskstate", "Bash(ls)"]}}')
    set_up(repository, Wanted(("claude", "gemini"), allow=True))
    for name, key, item in (
        (".claude/settings.json", "permissions", "Bash(x)"),
        (".gemini/settings.json", "theme", "x"),
    ):
        values = read(repository / name)
        values.setdefault(key, {"allow": []})["allow"].append(item)
        put(repository, name, json.dumps(values, indent=7))
    take_out(repository)
    assert read(repository / ".claude/settings.json") == {
        "permissions": {"allow": ["mcp__taskstate", "Bash(ls)", "Bash(x)"]}
    }
    assert read(repository / ".gemini/settings.json") == {"theme": {"allow": ["x"]}}


def test_without_a_record_nothing_is_taken_out(repository: Path) -> None:
    """The refusal names the command that writes one."""
    assert refusal(lambda: take_out(repository)).code == "not-set-up"


def test_record_names_the_version(repository: Path) -> None:
    """So that `doctor` can compare it with the command line."""
    set_up(repository, Wanted())
    assert read(repository / ".taskstate" / RECORD)["version"] == VERSION


def test_verification_needs_a_client(repository: Path) -> None:
    """Without a client there is no configuration to write into."""
    error = refusal(lambda: set_up(repository, Wanted(verification=True)))
    assert "--agent claude" in error.help
