"""`taskstate snapshot` and `taskstate purge`: as people and programs use them."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from taskstate.doctor import examine
from tests.support import terminal
from tests.support.git_place import GitPlace
from tests.support.place import tree

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli

pytestmark = pytest.mark.slow  # it starts many processes, most of them git

TAKE = ("snapshot", "take", "101", "--role", "implementer")
VERIFY = ("snapshot", "verify", "101", "--role", "implementer")
DIFF = ("snapshot", "diff", "101", "--role", "implementer")


@pytest.fixture
def place(tmp_path: Path) -> GitPlace:
    """Return a repository with a changed file and a new one."""
    created = GitPlace(tmp_path / "repository")
    created.write("a.txt", "one\n2\nthree\n")
    created.write("new \u00fc.txt", "new\x1b[31m\n")
    return created


def test_a_day_of_two_roles(cli: Cli, place: GitPlace) -> None:
    """Taken, verified, drifted, resolved, shown, purged: each step says what it did."""
    output = cli.ok(*TAKE)
    assert "snapshot of implementer taken: 2 files changed, 2 insertions(+), 1 deletion(-)" in output
    assert cli.ok(*VERIFY) == "the working tree is as implementer left it\n"
    place.write("a.txt", "by hand\n")
    drifted = cli(*VERIFY)
    assert drifted.status == 1
    assert drifted.out.startswith(
        "drift: the working tree is not what implementer left; edited by hand since: a.txt\n  modified a.txt: expected "
    )
    assert "failed checks:\n  checksums: 1 file: a.txt\n" in drifted.out
    restore = "`taskstate snapshot verify 101 --role implementer --restore a.txt`"
    assert f"what to do: put files back by {restore}" in drifted.out
    assert "is not what implementer left, and nobody has resolved that" in cli.refused(*TAKE)
    resolve = ("snapshot", "resolve", "101", "--note", "mine")
    assert "put back a.txt" in cli.ok(*VERIFY, "--restore", "a.txt")
    assert "nothing to resolve" in cli.refused(*resolve)
    place.write("src/b.py", "by hand\n")
    assert "accepted as it is; snapshot of implementer taken again\n" in cli.ok(*resolve)
    place.write("a.txt", "reviewed\n")
    assert "reviewer taken" in cli.ok("snapshot", "take", "101", "--role", "reviewer")
    assert "+reviewed" in cli.ok("snapshot", "diff", "101", "--role", "reviewer", "--type", "incremental")
    assert "deleted" in cli.ok("purge", "101")
    assert cli.ok("purge", "101").endswith("nothing to change\n")
    assert "was purged" in cli.refused(*DIFF)
    cli.ok("lint")


def test_programs_get_the_same(cli: Cli, place: GitPlace) -> None:
    """The envelope holds what others build on."""
    taken = cli.json(*TAKE)
    assert {"path", "revision", "changed", "role", "diff_stat", "files", "notes"} <= set(taken)
    assert cli.json(*VERIFY)["drift"] is False
    place.write("a.txt", "by hand\n")
    (place.root / "src/c.py").rename(place.root / "src/d.py")
    verified = cli.json(*VERIFY, status=1)
    assert verified["drift"] is True
    assert [check["name"] for check in verified["checks"] if not check["ok"]] == ["checksums", "status", "diff"]
    assert all(set(check) == {"name", "ok", "detail"} for check in verified["checks"])
    assert [(each["path"], each["change"], each.get("from")) for each in verified["files"]] == [
        ("a.txt", "modified", None),
        ("src/c.py", "removed", None),
        ("src/d.py", "renamed", "src/c.py"),
    ]
    assert set(verified["files"][0]) == {"path", "change", "expected", "current"}
    resolved = cli.json("snapshot", "resolve", "101", "--note", "fine")
    assert (resolved["retaken"], resolved["base_commit"]) == (["implementer"], place.git("rev-parse", "HEAD"))
    shown = cli.json(*DIFF)
    assert "+by hand" in shown["diff"]
    assert (place.root / shown["path"]).is_file()
    assert cli.json("purge", "101")["changed"] is True


def test_diff_goes_out_exactly(cli: Cli, place: GitPlace) -> None:
    """Into a pipe the very bytes go; the artifact is named on request; quiet is quiet."""
    place.write("latin.txt", b"caf\xe9\r\n")
    cli.ok(*TAKE)
    cli.ok(*VERIFY)
    assert cli.ok(*DIFF, "--path").endswith("implementer-from-base.diff.gz\n")
    assert cli.ok(*DIFF, "--quiet") == ""
    command = [sys.executable, "-m", "taskstate", *DIFF]
    piped = subprocess.run(command, cwd=place.root, capture_output=True, check=True).stdout
    assert b"+caf\xe9\r\n" in piped
    assert piped == place.diff()
    status, shown = terminal.seen(command, cwd=place.root)
    assert (status, "+caf\ufffd\\r" in shown) == (0, True)


def test_colour_is_for_people(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """In colour what the work holds cannot steer the terminal."""
    cli.ok(*TAKE)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR")
    shown = cli.ok(*DIFF)
    assert "\x1b[32m+new\\x1b[31m\x1b[0m" in shown
    assert "\x1b" not in cli.ok(*DIFF, "--no-color").replace("new\x1b[31m", "")


def test_dry_run_shows_and_keeps(cli: Cli, place: GitPlace) -> None:
    """With --dry-run nothing is written, and a drift is not counted."""
    before = tree(place.root)
    assert "+    implementer:" in cli.ok(*TAKE, "--dry-run")
    assert tree(place.root) == before
    cli.ok(*TAKE)
    assert "pack: null" in cli.ok("purge", "101", "--dry-run")
    place.write("a.txt", "by hand\n")
    before = tree(place.root)
    assert cli(*VERIFY, "--dry-run").status == 1
    result = cli(*VERIFY, "--dry-run", "--restore", "a.txt")
    assert (result.status, result.out.startswith("would put back a.txt\n")) == (1, True)
    assert "+    - {at: " in cli.ok("snapshot", "resolve", "101", "--note", "n", "--dry-run")
    assert tree(place.root) == before


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("take", "101"), "--role"),
        (("take", "101", "--role", "implementor"), "did you mean implementer?"),
        (("take", "999", "--role", "implementer"), "there is no task 999"),
        (("verify", "101", "--role", "reviewer"), "reviewer has left no snapshot"),
        (("verify", "101", "--role", "implementer", "--restore", "../x"), "names nothing inside"),
        (("diff", "101", "--role", "reviewer"), "reviewer has left no snapshot"),
        (("diff", "101", "--role", "implementer", "--type", "incremental"), "no role comes before it"),
        (("resolve", "101"), "--note"),
        (("resolve", "101", "--note", ""), "--note"),
        (("resolve", "101", "--note", "x"), "nothing to resolve"),
    ],
)
def test_what_cannot_be_is_refused(cli: Cli, arguments: tuple[str, ...], text: str) -> None:
    """Each is one clear line, and nothing changes."""
    cli.ok(*TAKE)
    assert text in cli.refused("snapshot", *arguments)


def test_strange_names_are_shown_and_taken_back(cli: Cli, place: GitPlace) -> None:
    """A name that is no text is shown as git quotes it, and taken so; no name breaks a line or steers the terminal."""
    place.write(b"caf\xe9", "x\n")
    place.write("line\nbreak\x1b[2J", "x\n")
    cli.ok(*TAKE)
    place.write(b"caf\xe9", "y\n")
    place.write("line\nbreak\x1b[2J", "y\n")
    output = cli(*VERIFY).out
    assert '"caf\\351"' in output
    assert """--restore '"caf\\351"' '"line\\nbreak\\033[2J"'`""" in output
    assert '  modified "line\\nbreak\\033[2J": expected ' in output
    assert "edited by hand since: " in output
    assert "\x1b" not in output
    assert [each["path"] for each in cli.json(*VERIFY, status=1)["files"]] == ['"caf\\351"', "line\nbreak\x1b[2J"]
    back = cli(*VERIFY, "--restore", '"caf\\351"', '"line\\nbreak\\033[2J"').out
    kept = "; what it replaced: `taskstate doctor kept show ID`"
    shown = re.sub("show [0-9a-f]{8}", "show ID", back)
    assert shown.startswith(f'put back "caf\\351"{kept}\nput back "line\\nbreak\\033[2J"{kept}\nthe working tree is as')
    assert cli.json("doctor", "kept", "list")["texts"][0]["path"] == "caf\\udce9"
    place.write("-dash", "x\n")
    cli.ok("snapshot", "resolve", "101", "--note", "one more")
    place.write("-dash", "y\n")
    command = re.findall(r"`taskstate (snapshot verify [^`]+)`", cli(*VERIFY).out)[-1]
    assert command.endswith("--restore ./-dash")
    assert cli.ok(*shlex.split(command)).startswith("put back -dash; what it")
    assert cli.ok(*VERIFY, "--restore=-dash").startswith("put back -dash\n")
    assert cli.ok(*VERIFY, "--restore", "./-dash").startswith("put back -dash\n")


def test_what_was_put_back_is_told_though_nothing_can_be_compared(cli: Cli, place: GitPlace) -> None:
    """Without the base commit, files are still restored, and this is reported even if the comparison fails."""
    place.write("taskstate.toml", '[coordination]\ncommits = "held"\n')
    cli.ok(*TAKE)
    place.git("commit", "--quiet", "--amend", "--allow-empty", "--message=other")
    place.git("reflog", "expire", "--expire=now", "--all")
    place.git("gc", "--quiet", "--prune=now")
    place.write("a.txt", "by hand\n")
    failed = cli(*VERIFY, "--restore", "a.txt")
    assert (failed.status, (place.root / "a.txt").read_text()) == (2, "one\n2\nthree\n")
    assert "put back a.txt" in failed.err
    assert "snapshot resolve 101 --note" in failed.err


def test_link_that_leads_out_is_recorded_and_no_finding(cli: Cli, place: GitPlace) -> None:
    """A link is recorded as itself, wherever it leads: lint finds nothing wrong with that."""
    (place.root / "out").symlink_to("/etc")
    cli.ok(*TAKE)
    assert "? out" in place.snapshot()["files_changed"]
    cli.ok("lint")


def test_another_id_takes_the_snapshots_along(cli: Cli, place: GitPlace) -> None:
    """After renumbering a task its snapshots are where the file says, and doctor finds no orphan."""
    cli.ok(*TAKE)
    cli.ok("doctor", "renumber", "101", "7")
    cli.ok("snapshot", "verify", "7", "--role", "implementer")
    assert "+new" in cli.ok("snapshot", "diff", "7", "--role", "implementer")
    place.write("a.txt", "by hand\n")
    assert cli.ok("snapshot", "verify", "7", "--role", "implementer", "--restore", "a.txt").startswith("put back a.txt")
    assert [each for each in examine.examine(place.workspace) if each.check == "orphans"] == []


def test_what_killed_git_left_in_a_pack_goes_with_the_next_one(cli: Cli, place: GitPlace) -> None:
    """Of the same tree, which lies in the same folder."""
    before = place.text
    cli.ok(*TAKE)
    (pack,) = (place.workspace.state_root / "artifacts").rglob("pack")
    (pack / "tmp_idx_x").touch()
    place.text = before
    cli.ok(*TAKE)
    assert {".pack", ".idx", ".rev"} >= {path.suffix for path in pack.iterdir()}


def test_json_shows_every_field_of_a_snapshot(cli: Cli, place: GitPlace) -> None:
    """What the state file does not repeat is read from the artifacts; where those are not here, it is null."""
    place.write("a.txt", "changed\n")
    cli.ok("snapshot", "take", "101", "--role", "implementer")
    shown = json.loads(cli.ok("role", "show", "101", "--format", "json"))["data"]["roles"][0]["snapshot"]
    assert shown == {
        **dict.fromkeys(("index_tree", "scope_hash", "incremental_diff_sha", "incremental_diff_error")),
        **{key: place.snapshot()[key] for key in ("snapshot_time", "actor", "tree", "diff_stat", "diff_sha")},
        **dict.fromkeys(("head", "base_commit"), place.delta.base_commit),
        **dict.fromkeys(("start_tree", "base_tree"), place.base_tree),
        "folder": place.snapshot()["pack"],
        "files_changed": place.snapshot()["files_changed"],
    }
    shutil.rmtree(place.workspace.state_root / "artifacts")
    there = json.loads(cli.ok("role", "show", "101", "--format", "json"))["data"]["roles"][0]["snapshot"]
    assert there == {**shown, **dict.fromkeys(("start_tree", "base_tree", "diff_sha", "files_changed"))}


def test_drift_is_accepted_for_the_tree_that_was_shown_alone(cli: Cli, place: GitPlace) -> None:
    """The printed cure names it; with another tree nothing is accepted, and the cure for that shows what is there."""
    cli.ok(*TAKE)
    place.write("a.txt", "by hand\n")
    shown = cli.json(*VERIFY, status=1)
    assert len(shown["tree"]) == 40
    cure = f'`taskstate snapshot resolve 101 --note "WHY" --expect-tree {shown["tree"][:12]}`'
    assert cure in shown["message"] + cli(*VERIFY).out
    place.write("a.txt", "and once more\n")
    resolve = ("snapshot", "resolve", "101", "--note", "fine", "--expect-tree")
    refused = cli(*resolve, shown["tree"], "--format", "json")
    assert (refused.status, json.loads(refused.out)["code"]) == (2, "tree-changed")
    said = cli.refused(*resolve, shown["tree"][:12])
    assert "`taskstate snapshot verify 101 --role implementer` shows what is there" in said
    now = cli.json(*VERIFY, status=1)["tree"]
    assert f"it is {now[:12]} now, not {shown['tree'][:12]}" in said
    assert "is not an id of a tree" in cli.refused(*resolve, "HEAD")
    cli.ok(*resolve, now[:12].upper())


def test_what_is_put_back_names_where_the_bytes_are_that_it_replaced(cli: Cli, place: GitPlace) -> None:
    """They come out byte for byte; where nothing differs any more, no drift is told, and the log names the file."""
    cli.ok(*TAKE)
    place.write("a.txt", b"by hand\r\n\xff")
    assert "what changed: `taskstate snapshot diff 101 --role implementer --type now`" in cli(*VERIFY).out
    assert "drift" in cli.ok("status")
    said = cli.ok(*VERIFY, "--restore", "a.txt")
    assert "drift" not in cli.ok("status")
    assert "put back as implementer left it: a.txt" in cli.ok("log", "101")
    own_id = said.partition("`taskstate doctor kept show ")[2].partition("`")[0]
    command = [sys.executable, "-m", "taskstate", "doctor", "kept", "show", own_id]
    assert subprocess.run(command, cwd=place.root, capture_output=True, check=True).stdout == b"by hand\r\n\xff"
