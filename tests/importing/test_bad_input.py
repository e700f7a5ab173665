"""What is broken, large or hostile: told with its place, never obeyed, and nothing half done."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from taskstate.importing.planning.ids import own_id
from taskstate.importing.reading.sources import Source
from taskstate.importing.records import Refused
from taskstate.importing.words import time_of
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import blocks_of
from taskstate.storage import files
from taskstate.syntax.document import parse

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from tests.cli.conftest import Cli

ENTRY = {"id": "1", "title": "One", "status": "pending"}
TOKEN = "ghp_" + "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW2xY4"


HOSTILE = """---
status: complete
coordination: {}
---

# Task #1: no
## 4. Progress Log

### Session 1 - 2026-01-01 00:00

**What I did:** all

<!-- taskstate: ignore-file -->
text <!-- markdownlint-disable --> text
::error::no

Setext
======

<details>

## Acceptance criteria
- [ ] Real

```
open"""


def issue(number: int, title: str = "T", **more: object) -> dict[str, object]:
    """Return an issue as `gh` prints it."""
    return {"number": number, "title": title, "body": "", "state": "OPEN", "labels": [], **more}


def written(tmp_path: Path, *issues: object) -> Path:
    """Return the path of a file with these issues."""
    path = tmp_path / "issues.json"
    path.write_text(json.dumps(issues), encoding="utf-8")
    return path


_ISSUE = '{{"number": 1, "title": "T", "url": "https://h.invalid/o/{}/issues/1"}}'
_TWO = f"[{_ISSUE.format('a')},\n{_ISSUE.format('b')}]".encode()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'[{"number": 1,]', "issues.json:1:15: this is not JSON"),
        (b'[{"number": 1, "number": 2}]', "a key is given twice"),
        (b'[{"number": NaN}]', "NaN is not a JSON value"),
        (b'[\n{"number": 1, "title": "\xff"}]', "issues.json:2: it is not UTF-8: byte 26"),
        (b'[\n<<<<<<< ours\n{"number": 1}\n=======\n]', "issues.json:2:1: a merge conflict is left here"),
        (_TWO, "issues.json:2:1: the issues of https://h.invalid/o/b and https://h.invalid/o/a have the same numbers"),
        (b"[" + b"[" * 2000, "nested more than 64 levels deep"),
        (b'[{"number": 1, "title": ' + b'{"a":' * 80 + b"1" + b"}" * 80 + b"}]", "nested more than 64 levels deep"),
    ],
)
def test_a_file_of_one_value_is_refused_as_a_whole(content: bytes, said: str, cli: Cli, tmp_path: Path) -> None:
    """One line says where and what; nothing is written."""
    path = tmp_path / "issues.json"
    path.write_bytes(content)
    assert said in cli.refused("import", "github", path)


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (issue(2, f"key {TOKEN}"), "secret"),
        (issue(2, "hid\u202eden"), "hidden-text"),
        (issue(2, "zero\u200bwidth\u200b\u200b text"), "hidden-text"),
        (issue(2, body="\x1b[2J"), "hidden-text"),
        (issue(2, body="half \ud800"), "hidden-text"),
        (issue(2, "  "), "no-title"),
        (issue(2, body="x" * (1024**2 + 1)), "too-large"),
        ({"title": "no number"}, "bad-record"),
        ("no object", "bad-record"),
    ],
)
def test_one_record_is_refused_and_the_others_come_in(bad: object, code: str, cli: Cli, tmp_path: Path) -> None:
    """It is told with place and reason, and a credential is told by its kind alone."""
    done = cli.json("import", "github", written(tmp_path, issue(1), bad, issue(3)), status=1)
    refused = [each for each in done["records"] if each["outcome"] == "refused"]
    assert [each["why"].partition(":")[0] for each in refused] == [code]
    assert TOKEN not in json.dumps(done)
    assert [each["id"] for each in cli.json("list")] == ["1", "3"]


def test_hidden_text_and_credentials_come_in_when_asked_for(cli: Cli, tmp_path: Path) -> None:
    """Hidden text is written visibly, and what looks like a credential with an event."""
    path = written(tmp_path, issue(1, "hid\u202eden"), issue(2, f"key {TOKEN}"))
    cli.ok("import", "github", path, "--show-hidden", "--force-secrets")
    assert "hid\\u202eden" in cli.place.workspace.locate("1").read_text(encoding="utf-8")
    events = blocks_of(parse(cli.place.workspace.locate("2").read_text(encoding="utf-8"))).audit.events
    assert [each.event for each in events] == ["secrets-forced"]


def test_an_address_of_a_person_is_left_out(cli: Cli, tmp_path: Path) -> None:
    """In fields, unless it is asked for; what people wrote stays as it is."""
    path = written(tmp_path, issue(1, body="ask a@b.invalid", author={"login": "Ann <ann@mill.invalid>"}))
    cli.ok("import", "github", path)
    text = cli.place.workspace.locate("1").read_text(encoding="utf-8")
    assert "ann@mill.invalid" not in text
    assert "ask a@b.invalid" in text
    cli.ok("import", "--undo")
    cli.ok("import", "github", path, "--people")
    assert "ann@mill.invalid" in cli.place.workspace.locate("1").read_text(encoding="utf-8")


def test_a_text_forms_no_structure(cli: Cli, tmp_path: Path) -> None:
    """No heading, session, fence, key, comment that a tool obeys, or command of CI comes out of a description."""
    body = HOSTILE
    comments = [{"author": {"login": "x"}, "body": body, "createdAt": "2026-01-01T00:00:00Z"}]
    cli.ok("import", "github", written(tmp_path, issue(1, body=body, comments=comments, audit={"seal": "x"})))
    loaded = cli.place.workspace.load(cli.place.workspace.locate("1"))
    state = read_state(loaded.document)
    assert (state.status, state.sessions, state.problems) == ("created", (), ())
    assert [each.text for each in state.criteria] == ["Real"]
    levels = [each.title for each in loaded.document.sections if each.level <= 2]
    assert levels[-1] == "Notes"
    assert len(levels) == 8
    assert "seal: x" in loaded.document.text
    assert cli("lint", "--against", "none").status == 0


@pytest.mark.parametrize("bad", ["../up", "a/b", "a\\b", "a..b", "line\nbreak"])
def test_an_id_that_nobody_types_by_accident_is_refused(bad: str) -> None:
    """It would lead elsewhere as a path."""
    assert own_id(bad) == ""


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("TASK-7", "7"), ("ket-12", "ket-12"), ("bd-a1b2.1", "bd-a1b2.1"), ("Wider base!", "Wider-base"),
        ("a__b", "a_b"), ("x" * 70, f"{'x' * 48}-"), (f"001-{'y' * 70}", "001"),
    ],
)  # fmt: skip
def test_an_id_is_kept_or_made(text: str, own: str) -> None:
    """What is an id stays; of anything else the letters and digits do."""
    assert own_id(text).startswith(own)
    assert own_id(text) == own or len(own_id(text)) == len(own) + 8


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read may be half of one version and half of the other; other files come in."""
    for name in ("still.md", "moving.md"):
        (tmp_path / name).write_text("- [ ] Axle\n", encoding="utf-8")
    read = files.read

    def changing(path: Path, most: int) -> bytes:
        data = read(path, most)
        if path.name == "moving.md":
            path.write_bytes(data * 2)
        return data

    monkeypatch.setattr(files, "read", changing)
    found = Source((("moving.md", tmp_path / "moving.md"), ("still.md", tmp_path / "still.md")))
    refused = found.markdown("moving.md")
    assert isinstance(refused, Refused)
    assert (refused.code, str(refused.place)) == ("stale", "moving.md:1")
    assert found.markdown("still.md") == "- [ ] Axle\n"


@pytest.mark.parametrize(
    ("text", "form", "zone", "time"),
    [
        ("2026-11-26", "", "", "2026-11-26T00:00:00Z"),
        ("2026-11-26 14:30", "", "+02:00", "2026-11-26T12:30:00Z"),
        ("2026-11-26T14:30:05.1234567Z", "", "+02:00", "2026-11-26T14:30:05Z"),
        ("2026-11-26 14:30 +0200", "", "", "2026-11-26T12:30:00Z"),
        ("2026-11-26 14:30 UTC", "", "", "2026-11-26T14:30:00Z"),
        ("26/Nov/26 2:30 PM", "", "", "2026-11-26T14:30:00Z"),
        ("26.11.2026, 14:30", "", "", "2026-11-26T14:30:00Z"),
        ("November 26, 2026", "", "", "2026-11-26T00:00:00Z"),
        ("11/10/2026", "DMY", "", "2026-10-11T00:00:00Z"),
        ("11/10/2026", "", "", ""),
        ("0001-01-01T00:00:00Z", "", "", ""),
        ("9999-12-31T23:59:59-10:00", "", "", ""),
        ("2026-13-01", "", "", ""),
        ("1700000000", "", "", ""),
    ],
)
def test_a_time_is_read_in_the_forms_that_are_known(text: str, form: str, zone: str, time: str) -> None:
    """And in no other: what may mean two days is none."""
    assert time_of(text, form, zone) == time


def test_no_link_is_followed(cli: Cli, tmp_path: Path) -> None:
    """Nor a pipe read: the path is refused by name."""
    path = written(tmp_path, issue(1))
    (tmp_path / "link.json").symlink_to(path)
    os.mkfifo(tmp_path / "pipe.json")
    for name in ("link.json", "pipe.json"):
        assert name in cli.refused("import", "github", tmp_path / name)


def test_two_records_with_one_id(cli: Cli, tmp_path: Path) -> None:
    """The second is refused with both places, gets another id, or is left as the same."""
    path = written(tmp_path, issue(1), issue(1), issue(1, "Other"))
    done = cli.json("import", "github", path, "--dry-run", status=1)
    assert [each["why"].partition(":")[0] for each in done["records"][1:]] == ["identical-copy", "duplicate-id"]
    cli.ok("import", "github", path, "--duplicates=rename")
    assert [each["id"] for each in cli.json("list")] == ["1", "1-2"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nothing", "x"), "there is no system 'nothing'"),
        (("github",), "a system and a path are needed"),
        (("github", "missing.json"), "missing.json does not exist"),
        (("github", "-", "x"), "standard input comes alone"),
        (("--undo",), "there is no import to take back"),
    ],
)
def test_what_is_asked_wrongly_is_refused(words: tuple[str, ...], said: str, cli: Cli) -> None:
    """In one line, with what to do."""
    assert said in cli.refused("import", *words)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[", "is not valid TOML"),
        ("x = 1", "has an unknown key 'x'"),
        ('[status]\nx = "later"', "'x' in [status] becomes 'later'"),
        ('status = "x"', "[status] must be a table"),
        ('date-format = "YMD"', "date-format must be DMY or MDY"),
        ('timezone = "Europe/Berlin"', "timezone must be an offset such as +02:00"),
        ('language = "de"', "has an unknown key 'language'"),
        ('[ids]\na = "b/c"', "which must be an id"),
    ],
)
def test_a_wrong_map_is_refused(text: str, said: str, cli: Cli, tmp_path: Path) -> None:
    """By the key or the value that is wrong."""
    path = tmp_path / "map.toml"
    path.write_text(text, encoding="utf-8")
    assert said in cli.refused("import", "github", written(tmp_path, issue(1)), "--map", path)


def test_a_record_that_would_lose_a_line_is_refused_and_the_others_come_in(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of many must not keep the rest out; the dry run tells the same, and what would be lost is named."""

    def lacking_one(said: object, *_: object) -> list[str]:
        return ["the line"] if "Two" in str(said) else []

    monkeypatch.setattr("taskstate.importing.conserve.lacking", lacking_one)
    path = written(tmp_path, issue(1), issue(2, "Two"), issue(3, body="Depends on #2"))
    planned = cli.json("import", "github", path, "--dry-run", status=1)
    done = cli.json("import", "github", path, status=1)
    assert {key: planned[key] for key in done} == done
    assert (done["counts"]["task"], done["counts"]["refused"]) == (2, 1)
    why = next(each["why"] for each in done["records"] if each["outcome"] == "refused")
    assert why == "unsafe: 2 cannot be taken over, since these lines would get lost: the line"
    assert cli("lint", "--against", "none").status == 0


@pytest.mark.parametrize(
    ("system", "data", "named"),
    [
        ("feature-list", {"description": "About", "rules": "R", "features": [ENTRY]}, "description, rules: what"),
        (
            "taskmaster",
            {"tag": {"tasks": [ENTRY], "words": "W", "metadata": {"made": "M"}}, "note": "N"},
            "note, words, made",
        ),
        ("taskmaster", {"tasks": [ENTRY], "words": "W", "other": {"tasks": []}}, "here: words"),
        ("taskmaster", {"tag": {"tasks": [ENTRY], "metadata": "by hand"}}, "here: metadata"),
    ],
)
def test_what_a_file_says_besides_its_tasks_is_named(
    system: str, data: dict[str, Any], named: str, cli: Cli, tmp_path: Path
) -> None:
    """It has no place here, and does not vanish without a word."""
    path = tmp_path / "given.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    told = [each["why"] for each in cli.json("import", system, path, "--dry-run")["told"]]
    assert [why for why in told if named in why], told


def test_a_map_goes_into_no_file_that_is_there(cli: Cli, tmp_path: Path) -> None:
    """That is said before anything comes in."""
    (tmp_path / "map.toml").touch()
    said = cli.refused("import", "github", written(tmp_path, issue(1)), "--write-map", tmp_path / "map.toml")
    assert "it exists already" in said
    state = cli.place.root / ".taskstate" / "tasks" / "task-9-state.md"
    assert "taskstate's own files" in cli.refused("import", "github", written(tmp_path, issue(1)), "--write-map", state)
    assert not cli.place.workspace.state_files()


def test_a_feature_that_is_here_already_stays_and_is_told(cli: Cli, tmp_path: Path) -> None:
    """With `--into` a record whose id another feature has does not vanish without a word; the same again is none."""
    cli.ok("new", "7", "--title=Own", "--feature=1=Ours", "--feature=2=Two")
    path = written(tmp_path, issue(1, "Theirs"), issue(2, "Two"))
    told = [each["why"] for each in cli.json("import", "github", path, "--into", "7")["told"]]
    assert "7 has others with the ids 1, which stay: `--prefix` gives new ids" in told
    assert "Ours" in (text := cli.place.workspace.locate("7").read_text("utf-8"))
    assert "Theirs" not in text
    cli.ok("import", "github", path, "--into", "7", "--prefix", "gh-")
    assert "Theirs" in cli.place.workspace.locate("7").read_text("utf-8")


def test_what_a_feature_has_no_place_for_stands_in_its_notes(cli: Cli, tmp_path: Path) -> None:
    """With `--into` also that an issue is closed, since when, and its milestone."""
    cli.ok("new", "7", "--title=Own")
    closed: dict[str, Any] = {
        "stateReason": "NOT_PLANNED",
        "closedAt": "2026-02-02T00:00:00Z",
        "milestone": {"title": "The mill"},
    }
    cli.ok("import", "github", written(tmp_path, issue(1, state="CLOSED", **closed)), "--into", "7")
    text = cli.place.workspace.locate("7").read_text("utf-8")
    assert all(each in text for each in ("dropped in the source", "closed_at: 2026-02-02", "epic: The mill"))
