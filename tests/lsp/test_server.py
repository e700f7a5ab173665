"""The language server as an editor sees it: the real process, spoken with on its two streams."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.git_place import GitPlace
from tests.support.language_client import PULLED, LanguageClient, applied, edits_of

if TYPE_CHECKING:
    from collections.abc import Iterator

STATE = ".taskstate/tasks/task-101-state.md"
OTHER = ".taskstate/tasks/task-102-state.md"


@pytest.fixture
def place(tmp_path: Path) -> GitPlace:
    """Return a git repository with task 101."""
    return GitPlace(tmp_path.resolve() / "repository")


@pytest.fixture
def client(place: GitPlace) -> Iterator[LanguageClient]:
    """Return an editor to which diagnostics are sent."""
    with LanguageClient(place.root) as opened:
        yield opened


def text_of(place: GitPlace, name: str = STATE) -> str:
    """Return the text of a file on disk."""
    return (place.root / name).read_bytes().decode()


def line_of(text: str, part: str) -> int:
    """Return the number of the line, counted from 0, that holds a part of a text."""
    return text[: text.index(part)].count("\n")


def codes(diagnostics: list[dict[str, Any]]) -> list[str]:
    """Return the codes of diagnostics."""
    return [each["code"] for each in diagnostics]


def labels(completion: dict[str, Any]) -> list[str]:
    """Return the labels of what is offered."""
    return [each["label"] for each in completion["items"]]


# Findings


def test_findings_follow_the_typing(place: GitPlace, client: LanguageClient) -> None:
    """A fault is shown when it is typed, and gone when it is mended."""
    text = text_of(place)
    client.open(STATE)
    client.change(STATE, text.replace("status: created", "status: creatd"), 2)
    client.until(lambda: codes(client.shown(STATE)) == ["TS101"])
    client.change(STATE, text, 3)
    client.until(lambda: client.diagnostics[client.uri(STATE)] == [])


def test_files_that_are_not_open_are_checked(place: GitPlace, client: LanguageClient) -> None:
    """A fault on disk is shown without anybody opening the file, and gone after it is mended there."""
    text = text_of(place)
    place.write(STATE, text.replace("status: created", "status: creatd"))
    client.until(lambda: codes(client.shown(STATE)) == ["TS101"])
    place.write(STATE, text)
    client.until(lambda: client.diagnostics[client.uri(STATE)] == [])


def test_a_change_of_another_task_changes_the_findings(place: GitPlace, client: LanguageClient) -> None:
    """A dependency on a task that is not there is a finding until there is that task."""
    text = text_of(place).replace("status: created", 'status: created\ndepends_on: ["102"]')
    client.open(STATE, text)
    client.until(lambda: "TS902" in codes(client.shown(STATE)))
    place.write(OTHER, text_of(place).replace("101", "102"))
    client.until(lambda: "TS902" not in codes(client.diagnostics[client.uri(STATE)]))


def test_head_counts_as_it_does_on_the_command_line(place: GitPlace, client: LanguageClient) -> None:
    """A status that goes back from complete at HEAD is found, although the text alone is in order."""
    text = text_of(place)
    place.write(STATE, text.replace("status: created", "status: complete"))
    place.git("commit", "--quiet", "--all", "--message=x")
    client.open(STATE, text)
    client.until(lambda: "TS107" in codes(client.shown(STATE)))


def test_a_removed_state_file_is_shown(place: GitPlace, client: LanguageClient) -> None:
    """The state file of an unfinished task that is gone since HEAD has its finding."""
    (place.root / STATE).unlink()
    client.until(lambda: codes(client.diagnostics.get(client.uri(STATE), [])) == ["TS012"])


def test_an_editor_that_asks_is_sent_nothing(place: GitPlace) -> None:
    """Diagnostics are given when they are asked for, the same ones as unchanged, and a change on disk makes it ask."""
    with LanguageClient(place.root, PULLED) as client:
        client.open(STATE, text_of(place).replace("status: created", "status: creatd"))
        params = {"textDocument": {"uri": client.uri(STATE)}}
        report = client.request("textDocument/diagnostic", params)
        assert codes(report["items"]) == ["TS101"]
        again = client.request("textDocument/diagnostic", {**params, "previousResultId": report["resultId"]})
        assert again["kind"] == "unchanged"
        whole = client.request("workspace/diagnostic", {"previousResultIds": []})
        assert [codes(each["items"]) for each in whole["items"]] == [["TS101"]]
        place.write(OTHER, "x")
        client.until(lambda: client.refreshed > 0)
        assert client.diagnostics == {}


@pytest.mark.parametrize(("encoding", "newline"), [("utf-16", "\r\n"), ("utf-8", "\n"), ("utf-32", "\n")])
def test_columns_are_counted_as_the_editor_counts(place: GitPlace, encoding: str, newline: str) -> None:
    """Behind an emoji and a tab a place is where the editor takes it to be, whatever the line ends."""
    text = text_of(place).replace("status: created", 'x-a: {"\U0001f600\té": 1, "y": "\x1b"}\nstatus: created')
    with LanguageClient(place.root, PULLED, encoding=encoding) as client:
        assert client.capabilities["positionEncoding"] == encoding
        client.open(STATE, text.replace("\n", newline))
        (found,) = [each for each in client.pull(STATE) if each["code"] == "TS006"]
        line = text.split("\n")[found["range"]["start"]["line"]]
        before = line[: line.index("\x1b")]
        expected = {
            "utf-16": len(before.encode("utf-16-le")) // 2,
            "utf-8": len(before.encode()),
            "utf-32": len(before),
        }
        assert found["range"]["start"]["character"] == expected[encoding]


# Cures


def test_a_fix_gives_what_the_command_line_gives(place: GitPlace, client: LanguageClient) -> None:
    """The action for a finding mends it, with the version of the text that it is for."""
    bad = text_of(place).replace("# Task #101: JWT Service - State", "# Task #101: JWT service - State")
    client.open(STATE, bad)
    actions = client.actions(STATE, line_of(bad, "# Task #101"))
    (fix,) = [each for each in actions if each["title"] == "Fix TS206 title-mismatch"]
    assert applied(bad, edits_of(fix)) == text_of(place)
    assert fix["edit"]["documentChanges"][0]["textDocument"]["version"] == 1


def test_ignore_here_silences_the_finding(place: GitPlace, client: LanguageClient) -> None:
    """The directive that the action adds silences that finding, and nothing else is found instead."""
    bad = text_of(place).replace("status: created", "status: creatd")
    client.open(STATE, bad)
    (ignore,) = [each for each in client.actions(STATE, line_of(bad, "creatd")) if each["title"].startswith("Ignore")]
    client.change(STATE, applied(bad, edits_of(ignore)))
    assert client.pull(STATE) == []


def test_a_command_runs_the_job(place: GitPlace, client: LanguageClient) -> None:
    """A task is renumbered as `doctor renumber` does it, and the audit names the actor."""
    assert client.run("taskstate.renumber", client.uri(STATE), "205")["success"]
    assert not (place.root / STATE).exists()
    assert 'task_id: "205"' in text_of(place, ".taskstate/tasks/task-205-state.md")


def test_a_job_and_unsaved_edits_do_not_lose_each_other(place: GitPlace, client: LanguageClient) -> None:
    """A command is refused while the file has edits that are not saved, or was changed on disk behind the editor."""
    before = text_of(place)
    client.open(STATE)
    client.change(STATE, f"{before}\nMine.\n")
    refused = client.run("taskstate.renumber", client.uri(STATE), "205")
    assert (refused["success"], "not saved" in refused["message"], text_of(place)) == (False, True, before)
    client.change(STATE, before, 3)
    place.write(STATE, f"{before}\nTheirs.\n")
    assert not client.run("taskstate.fix", client.uri(STATE))["success"]
    assert text_of(place) == f"{before}\nTheirs.\n"


def test_formatting_is_that_of_the_command_line(place: GitPlace, client: LanguageClient) -> None:
    """The edits for a file give its canonical form; those for a range leave the rest alone."""
    good = text_of(place)
    bad = good.replace("## 1. Static Context\n", "## 1. Static Context  \n").replace(
        "## 4. Progress Log", "## 4.  Progress Log"
    )
    uri = client.open(STATE, bad)
    options = {"tabSize": 2, "insertSpaces": True}
    edits = client.request("textDocument/formatting", {"textDocument": {"uri": uri}, "options": options})
    assert applied(bad, edits) == good
    line = line_of(bad, "## 4. ")
    place_ = {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 5}}
    params = {"textDocument": {"uri": uri}, "range": place_, "options": options}
    part = applied(bad, client.request("textDocument/rangeFormatting", params))
    assert "## 4. Progress Log" in part
    assert "## 1. Static Context  \n" in part


# What is at a place


def test_hover_explains(place: GitPlace, client: LanguageClient) -> None:
    """A key's meaning, another task's title and status, and the page of the rule whose finding is there."""
    text = text_of(place).replace("status: created", 'status: creatd\ndepends_on: ["101"]')
    client.open(STATE, text)

    def shown(part: str, more: int = 0) -> str:
        line = line_of(text, part)
        column = text.split("\n")[line].index(part) + more
        value: str = client.at("hover", STATE, line, column)["contents"]["value"]
        return value

    assert "Where the task stands" in shown("status:")
    assert "TS101 front-matter-schema" in shown("creatd", 1)
    assert "**Task 101**: JWT Service" in shown('"101"]', 2)


def test_completion_offers_what_can_stand_there(place: GitPlace, client: LanguageClient) -> None:
    """Keys that are missing, values that are allowed, ids of tasks, labels of a session, sections, and paths."""
    other = text_of(place).replace("101", "102").replace("JWT Service", "Other")
    place.write(OTHER, other)
    text = text_of(place).replace("status: created", "status: \nprio\ndepends_on: [10]")
    text = text.replace(
        "## 4. Progress Log\n", "## 4. Progress Log\n\n### Session 1 - 2026-01-01 10:00\n\n**\n\n`src/`\n"
    )
    client.open(STATE, text)

    def offered(part: str) -> list[str]:
        line = line_of(text, part)
        return labels(client.at("completion", STATE, line, text.split("\n")[line].index(part) + len(part)))

    assert "in_progress" in offered("status: ")
    assert "priority" in offered("prio")
    assert "taskstate" not in offered("prio")
    assert offered("depends_on: [10") == ["102"]
    assert "**What I did:**" in labels(client.at("completion", STATE, line_of(text, "### Session 1") + 2, 2))
    assert offered("`src/") == ["src/b.py", "src/c.py"]


def test_nothing_hidden_is_shown_and_no_title_is_markdown(place: GitPlace, client: LanguageClient) -> None:
    """Findings, names and what is offered have hidden text as escapes; an editor would load the image of a title."""
    hidden = "\u202e\U000e0041\x1b"
    title = 'title: "![x](https://example.invalid/x.png)<b> \\e\\u202e\\U000e0041"'
    place.write(OTHER, text_of(place).replace("101", "102").replace("title: JWT Service", title))
    text = text_of(place).replace("status: created", 'status: "creatd\\u202e"\ndepends_on: ["102"]')
    client.open(STATE, text.replace("## 2.", f"## 9 {hidden}\n\n## 2."))
    line = line_of(text, "depends_on")
    shown = client.at("hover", STATE, line, 15)["contents"]["value"]
    assert r"\!\[x\](https://example.invalid/x.png)\<b\>" in shown
    params = {"textDocument": {"uri": client.uri(STATE)}}
    said = [shown, client.request("textDocument/documentSymbol", params), client.at("completion", STATE, line, 15)]
    client.until(lambda: len(client.shown(STATE)) > 1)
    said.append([each["message"] for each in client.shown(STATE)])
    assert [each for each in said if set(json.dumps(each, ensure_ascii=False)) & set(hidden)] == []


def test_nothing_that_is_shown_holds_a_credential(place: GitPlace, client: LanguageClient) -> None:
    """Findings, titles of other tasks, the outline and what is offered have stars in its place."""
    body = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    place.write(OTHER, text_of(place).replace("101", "102").replace("title: JWT Service", f'title: "\\x67hp_{body}"'))
    text = text_of(place).replace("status: created", f'status: "\\x67hp_{body}"\ndepends_on: ["102"]')
    text = text.replace("makes a JWT", f"makes \\u0067hp_{body}")
    assert text.count(body) > 1
    client.open(STATE, text)
    line = line_of(text, "depends_on")
    client.until(lambda: len(client.shown(STATE)) > 1)
    params = {"textDocument": {"uri": client.uri(STATE)}}
    said = [client.at("hover", STATE, line, 15), client.at("completion", STATE, line, 15)]
    said += [client.request("textDocument/documentSymbol", params), client.shown(STATE)]
    assert all(said)
    assert [each for each in said if body[:8] in json.dumps(each)] == []


def test_outline_and_folds(place: GitPlace, client: LanguageClient) -> None:
    """Sections stand below the title, and every section can be folded."""
    client.open(STATE)
    params = {"textDocument": {"uri": client.uri(STATE)}}
    names = {each["name"]: each for each in client.request("textDocument/documentSymbol", params)}
    assert "4. Progress Log" in [each["name"] for each in names["Task #101: JWT Service - State"]["children"]]
    folds = client.request("textDocument/foldingRange", params)
    assert line_of(text_of(place), "## 1. Static Context") in [each["startLine"] for each in folds]


def test_definition_and_references(place: GitPlace, client: LanguageClient) -> None:
    """From `depends_on` one comes to the task, from there back to what depends on it, and from a path to the file."""
    place.write(OTHER, text_of(place).replace("101", "102"))
    text = text_of(place).replace("status: created", 'status: created\ndepends_on: ["102"]') + "\n`src/b.py`\n"
    client.open(STATE, text)
    line = line_of(text, "depends_on")
    assert client.at("definition", STATE, line, 15)["uri"] == client.uri(OTHER)
    last = line_of(text, "`src/b.py`")
    assert client.at("definition", STATE, last, 3)["uri"] == client.uri("src/b.py")
    found = client.at("references", OTHER, 2, 11, context={"includeDeclaration": False})
    assert [(each["uri"], each["range"]["start"]["line"]) for each in found] == [(client.uri(STATE), line)]


def test_no_link_leads_out_of_the_repository(place: GitPlace, client: LanguageClient) -> None:
    """A path that leads outside is no definition, and is not completed."""
    text = text_of(place) + "\n`../../etc/passwd` `../`\n"
    client.open(STATE, text)
    line = line_of(text, "`../../etc")
    assert client.at("definition", STATE, line, 5) is None
    assert client.at("completion", STATE, line, len("`../../etc/passwd` `../"))["items"] == []


# What goes wrong


def test_a_fault_in_a_request_does_not_end_the_server(place: GitPlace, client: LanguageClient) -> None:
    """Messages that are wrong are answered as such, and the next one is served."""
    wrong = {"textDocument": {"uri": 5}, "position": {"line": "x", "character": None}}
    assert "error" in client.answer("textDocument/hover", wrong)
    assert "error" in client.answer("no/such", {})
    client.send_bytes(b"Content-Length: 5\r\n\r\n{oops")
    assert client.at("hover", "nothing.txt", 0, 0) is None
    assert client.request("textDocument/documentSymbol", {"textDocument": {"uri": "untitled:x"}}) == []
    client.open(STATE, text_of(place))
    assert client.at("hover", STATE, 10**6, 10**6) is None
    assert client.close() == 0


def test_a_broken_configuration_is_told_once(place: GitPlace) -> None:
    """With a broken configuration nothing is found, one message says why, and mending it brings the findings back."""
    place.write("taskstate.toml", "oops = [\n")
    with LanguageClient(place.root, PULLED) as client:
        client.open(STATE, text_of(place).replace("status: created", "status: creatd"))
        assert [client.pull(STATE) for _ in range(3)] == [[], [], []]
        client.change(STATE, "x")
        assert client.pull(STATE) == []
        assert len(client.messages) == 1
        assert "taskstate.toml" in client.messages[0]["message"]
        place.write("taskstate.toml", "")
        assert client.pull(STATE) != []


def test_a_folder_that_cannot_be_listed_is_told(place: GitPlace) -> None:
    """One message says what is in the folder's place, nothing is said of its files, and the server goes on."""
    tasks = (place.root / STATE).parent
    tasks.rename(place.root.parent / "away")
    tasks.symlink_to(place.root.parent / "away")
    with LanguageClient(place.root) as client:
        client.until(lambda: client.messages != [])
        assert "cannot list" in client.messages[0]["message"]
        tasks.unlink()
        (place.root.parent / "away").rename(tasks)
        client.open(STATE, text_of(place).replace("status: created", "status: creatd"))
        client.until(lambda: client.diagnostics.get(client.uri(STATE), []) != [])
        assert len(client.messages) == 1


def test_files_that_cannot_be_checked_are_neutral(place: GitPlace) -> None:
    """Not UTF-8 is a finding; 20 MB, a file deleted while it is open and one outside of any repository are no fault."""
    with LanguageClient(place.root, PULLED) as client:
        place.write(OTHER, b"\xff\xfe")
        assert codes(client.pull(OTHER)) == ["TS001"]
        place.write(OTHER, b"x" * 20_000_000)
        assert client.pull(OTHER) == []
        assert client.pull(OTHER) == []
        assert ["too large" in each["message"] for each in client.messages] == [True]
        client.open(STATE)
        (place.root / STATE).unlink()
        assert client.pull(STATE) == []
        outside = place.root.parent / "task-7-state.md"
        outside.write_text("x", encoding="utf-8")
        assert client.pull("../task-7-state.md") != []


def test_a_session_is_restored_by_a_code_action(place: GitPlace, client: LanguageClient) -> None:
    """A session that was reworded since HEAD comes back by the action of its finding, and the finding is gone."""
    place.add("wrote the parser")
    place.commit("a session")
    committed = text_of(place)
    text = committed.replace("wrote the parser", "wrote nothing")
    place.write(STATE, text)
    client.open(STATE, text)
    client.until(lambda: codes(client.shown(STATE)) == ["TS405"])
    (action,) = (each for each in client.actions(STATE, line_of(text, "wrote nothing")) if each.get("command"))
    assert action["title"] == "Restore session 1 as committed"
    assert client.run(action["command"]["command"], *action["command"]["arguments"])["success"]
    restored = text_of(place)
    assert restored[restored.index("# Task") :] == committed[committed.index("# Task") :]
    client.change(STATE, restored, 2)
    client.until(lambda: client.diagnostics[client.uri(STATE)] == [])
    refused = client.run("taskstate.restoreSession", client.uri(STATE), "HEAD", "one")
    assert not refused["success"]


def test_nothing_of_a_file_is_run(place: GitPlace) -> None:
    """Commands in the configuration and in a file are text to the server."""
    mark = place.root / "ran"
    place.write("taskstate.toml", f'[archive]\nsummarizer = "touch {mark}"\n')
    with LanguageClient(place.root) as client:
        client.open(STATE, text_of(place) + f"\n`$(touch {mark})`\n")
        client.at("hover", STATE, 3, 3)
        client.close_file(STATE)
        client.run("taskstate.archive", client.uri(STATE), "force")
    assert not mark.exists()


def test_an_editor_that_breaks_off_is_left(place: GitPlace) -> None:
    """The process ends with its input, with status 1: it was not asked to."""
    with LanguageClient(place.root) as client:
        assert client.process.stdin
        client.process.stdin.close()
        assert client.process.wait(timeout=60) == 1


@pytest.mark.slow
def test_a_thousand_edits_take_no_memory(place: GitPlace) -> None:
    """The memory of the process grows by at most a tenth over a thousand edits."""
    if not Path(f"/proc/{os.getpid()}/status").exists():
        pytest.skip("the system does not tell how much memory a process uses")

    def memory(client: LanguageClient) -> int:
        client.pull(STATE)
        lines = Path(f"/proc/{client.process.pid}/status").read_text(encoding="utf-8").splitlines()
        return int(next(line.split()[1] for line in lines if line.startswith("VmRSS")))

    text = text_of(place)
    with LanguageClient(place.root, PULLED) as client:
        client.open(STATE)
        for version in range(2, 102):
            client.change(STATE, f"{text}\n{version}\n", version)
            client.pull(STATE)
        before = memory(client)
        for version in range(102, 1102):
            client.change(STATE, f"{text}\n{version}\n", version)
            if version % 10 == 0:
                client.pull(STATE)
        assert memory(client) <= before * 1.1
