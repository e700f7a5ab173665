from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.evidence import excerpts
from taskstate.evidence.excerpts import CHANGED, GONE, MOVED, SAME, Source
from taskstate.lint import engine
from taskstate.model.write_metadata import WriteMetadata, front_matter_values
from taskstate.syntax.document import parse
from taskstate.workspace import artifacts
from tests.support.place import TASK, Place, refusal, tree

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.evidence.excerpts import Excerpt, ExcerptStatus
    from taskstate.writing.change import Outcome, Request

TEXT = "one\ntwo\nthree\nfour\nfive\n"
KEY = "AKIA" + "QWERTYUIOPASDFGH"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with task 101 and a file `docs/plan.md` of five lines."""
    place = Place(tmp_path / "repository")
    write(place, TEXT)
    return place


def write(place: Place, text: str | bytes, path: str = "docs/plan.md") -> None:
    """Write a file of the repository."""
    (place.root / path).parent.mkdir(parents=True, exist_ok=True)
    (place.root / path).write_bytes(text if isinstance(text, bytes) else text.encode())


def add(
    place: Place, lines: str = "2-3", path: str = "docs/plan.md", of: str = "plan", request: Request | None = None
) -> Outcome[Excerpt]:
    """Add an excerpt."""
    return excerpts.add(place.workspace, TASK, Source(of, path, lines), request or place.request())


def show(place: Place, excerpt: str = "plan-1") -> ExcerptStatus:
    """Show an excerpt."""
    return excerpts.show(place.workspace, TASK, excerpt)


def entries(place: Place) -> Any:  # noqa: ANN401 - any value
    """Return what the front matter holds as evidence."""
    return front_matter_values(parse(place.text)).get("evidence")


# Adding


def test_lines_of_a_file(place: Place) -> None:
    """The entry holds the place, the time, and the hash of the lines joined by LF; the citation is one line."""
    added = add(place, "L2-L3")
    sha = hashlib.sha256(b"two\nthree").hexdigest()
    assert entries(place) == [
        {
            "id": "plan-1",
            "type": "plan",
            "path": "docs/plan.md",
            "lines": "2-3",
            "sha256": sha,
            "added_at": f"{place.now:%Y-%m-%dT%H:%M:%SZ}",
        }
    ]
    assert (
        excerpts.citation(added.result, TASK)
        == f"[plan-1] docs/plan.md:2-3 sha256:{sha[:16]} (`taskstate evidence show 101 plan-1`)"
    )
    assert engine.check(place.text, place.path.name, place.workspace.config) == ()


@pytest.mark.parametrize(("lines", "text"), [("1", "one"), ("L5-L5", "five"), ("1-5", "one\ntwo\nthree\nfour\nfive")])
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_line_ends_do_not_count(place: Place, lines: str, text: str, ends: str) -> None:
    """An excerpt has the same hash whatever the line ends of the file are."""
    write(place, TEXT.replace("\n", ends))
    assert add(place, lines).result.sha256 == hashlib.sha256(text.encode()).hexdigest()


def test_whole_file(place: Place) -> None:
    """Without lines it is the whole file, its line ends as LF, its last one included."""
    write(place, TEXT.replace("\n", "\r\n"))
    added = add(place, "", "./docs/plan.md")
    assert (added.result.lines, added.result.path) == (None, "docs/plan.md")
    assert added.result.sha256 == hashlib.sha256(TEXT.encode()).hexdigest()
    assert excerpts.citation(added.result, TASK).startswith("[plan-1] docs/plan.md sha256:")
    assert show(place).state == SAME


def test_ids_count_up_by_type(place: Place) -> None:
    """Each type counts by itself, whatever its case; an id is never given twice."""
    ids = [
        add(place, lines, of=of).result.id for lines, of in (("1", "plan"), ("2", "plan"), ("1", "log"), ("3", "Plan"))
    ]
    assert ids == ["plan-1", "plan-2", "log-1", "Plan-3"]


def test_same_excerpt_again(place: Place) -> None:
    """The same lines of the same file and type are no second excerpt; once they changed, they are another one."""
    add(place)
    before = tree(place.root)
    again = add(place, "L2-L3")
    assert (again.result.id, again.changed) == ("plan-1", False)
    assert excerpts.citation(again.result, TASK) in again.notes
    assert tree(place.root) == before
    assert add(place, of="log").result.id == "log-1"
    write(place, TEXT.replace("two", "2"))
    assert add(place).result.id == "plan-2"


def test_dry_run_writes_nothing(place: Place) -> None:
    """A dry run shows the change and keeps no text."""
    before = tree(place.root)
    assert "plan-1" in add(place, request=place.request(dry_run=True)).diff
    assert tree(place.root) == before


@pytest.mark.parametrize(
    ("source", "code"),
    [
        (Source("plan", "docs/plan.md", "2-9"), "lines"),
        (Source("plan", "docs/plan.md", "6"), "lines"),
        (Source("plan", "docs/plan.md", "0-2"), "usage"),
        (Source("plan", "docs/plan.md", "3-2"), "usage"),
        (Source("plan", "docs/plan.md", "a-b"), "usage"),
        (Source("plan", "docs/plan.md", "1-2-3"), "usage"),
        (Source("a plan", "docs/plan.md", "1"), "usage"),
        (Source("1", "docs/plan.md", "1"), "usage"),
        (Source("p" * 33, "docs/plan.md", "1"), "usage"),
        (Source("plan", "docs", "1"), "not-a-file"),
        (Source("plan", "docs/none.md", "1"), "not-found"),
        (Source("plan", "", "1"), "path-escapes"),
        (Source("plan", "/etc/hostname", "1"), "path-escapes"),
        (Source("plan", "../other", "1"), "path-escapes"),
        (Source("plan", "~/x", "1"), "path-escapes"),
        (Source("plan", ".git/config", "1"), "path-escapes"),
        (Source("plan", "link.md", "1"), "path-escapes"),
        (Source("plan", "binary", "1"), "binary"),
        (Source("plan", "latin", "1"), "not-utf8"),
        (Source("plan", "blank", "1"), "empty"),
        (Source("plan", "secret", "1"), "secret"),
    ],
)
def test_what_is_no_excerpt_is_refused(place: Place, tmp_path: Path, source: Source, code: str) -> None:
    """What lies outside, is no text, has no such lines or holds a secret is refused, and nothing is written."""
    (tmp_path / "outside").write_text("x\n", encoding="utf-8")
    (place.root / "link.md").symlink_to(tmp_path / "outside")
    for name, data in (("binary", b"a\0b\n"), ("latin", b"\xe9\n"), ("blank", b"  \n"), ("secret", KEY.encode())):
        write(place, data, name)
    before = tree(place.root)
    error = refusal(lambda: excerpts.add(place.workspace, TASK, source, place.request()))
    assert (error.code, bool(error.help)) == (code, True)
    assert KEY not in str(error)
    assert tree(place.root) == before


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (Source("a plan", "docs/plan.md", "1"), "'a plan' is not a type of evidence"),
        (Source("plan", " ", "1"), "the path ' ' names no file"),
        (Source("plan", "../other", "1"), "the path '../other' leads out"),
        (Source("plan", "docs/plan.md", "a-b"), "'a-b' is not a range of lines"),
        (Source("plan", "docs/none.md", "1"), "there is no file docs/none.md in the repository"),
    ],
)
def test_a_refusal_names_what_is_refused(place: Place, source: Source, message: str) -> None:
    """The message repeats the word that is wrong, as it was written."""
    assert refusal(lambda: excerpts.add(place.workspace, TASK, source, place.request())).message.startswith(message)


def test_secret_that_is_forced(place: Place) -> None:
    """A forced excerpt is recorded and warned of, and its value is shown nowhere."""
    write(place, f"key {KEY}\n", "secret")
    added = add(place, "1", "secret", request=place.request()._replace(force_secrets=True))
    assert len(added.warnings) == 1
    assert [each["event"] for each in parse(place.text).front_matter["audit"]["events"]] == ["secrets-forced"]
    write(place, f"now {KEY}\n", "secret")
    shown = show(place)
    assert shown.state == CHANGED
    assert KEY not in f"{added}{shown}"


def test_list_that_is_none(place: Place) -> None:
    """A malformed block is not overwritten."""
    place.text = place.text.replace("\n---\n", "\nevidence: none\n---\n", 1)
    place.text = "".join(line for line in place.text.splitlines(keepends=True) if "  seal:" not in line)
    assert refusal(lambda: add(place)).code == "unreadable"


# Showing


def test_source_still_holds_it(place: Place) -> None:
    """Where the source holds the lines, the excerpt is shown as it is, also where only lines below changed."""
    add(place)
    write(place, TEXT + "six\n")
    shown = show(place, "PLAN-1")
    assert (shown.state, shown.text, shown.lines, shown.now, shown.notes) == (SAME, "two\nthree", "2-3", None, ())


def test_excerpt_has_moved(place: Place) -> None:
    """Where the lines stand elsewhere in the file, that place is reported."""
    add(place)
    write(place, "zero\nzero\n" + TEXT)
    shown = show(place)
    assert (shown.state, shown.text, shown.lines, shown.now) == (MOVED, "two\nthree", "4-5", None)
    write(place, "xtwo\nthree\ntwo\nthree")
    assert show(place).lines == "3-4"
    add(place, "1", of="log")
    write(place, "a\nxtwo\n")
    assert show(place, "log-1").lines == "2"


def test_excerpt_has_changed(place: Place) -> None:
    """Where the lines have changed, the current text is shown next to the recorded one."""
    add(place)
    write(place, TEXT.replace("two", "2"))
    shown = show(place)
    assert (shown.state, shown.text, shown.now) == (CHANGED, "two\nthree", "2\nthree")
    write(place, "one\n")
    assert show(place).now == ""


@pytest.mark.parametrize("replacement", [None, b"\xff", "folder"])
def test_source_is_gone(place: Place, replacement: bytes | str | None) -> None:
    """Where the source is missing or no text any more, the kept excerpt is still shown."""
    add(place)
    (place.root / "docs/plan.md").unlink()
    if replacement == "folder":
        (place.root / "docs/plan.md").mkdir()
    elif replacement:
        write(place, replacement)
    shown = show(place)
    assert (shown.state, shown.text, bool(shown.notes)) == (GONE, "two\nthree", replacement is not None)


def test_another_clone(place: Place) -> None:
    """Where the text is not kept, the hash decides alone: what holds is shown from the source, what not is not."""
    add(place)
    artifacts.remove_all(place.workspace, TASK)
    assert (show(place).state, show(place).text) == (SAME, "two\nthree")
    write(place, "zero\n" + TEXT)
    shown = show(place)
    assert (shown.state, shown.lines, shown.text, shown.now) == (MOVED, "3-4", "two\nthree", None)
    write(place, "zero\n" + TEXT.replace("three", "3"))
    shown = show(place)
    assert (shown.state, shown.text, shown.now) == (CHANGED, None, "one\ntwo")


def test_a_huge_source_in_another_clone(place: Place) -> None:
    """Looking for lines by their hash alone is given up where it would take long."""
    write(place, "x" * 99 + "\n" * 30_000)
    excerpts.add(place.workspace, TASK, excerpts.Source("plan", "docs/plan.md", "1-15000"), place.request())
    artifacts.remove_all(place.workspace, TASK)
    write(place, "y\n" + "x" * 99 + "\n" * 30_000)
    assert show(place).state == CHANGED


@pytest.mark.parametrize("data", [b"no gzip", artifacts.gzipped(b"something else")])
def test_kept_text_is_broken(place: Place, data: bytes) -> None:
    """A kept text that is not what was recorded is reported and not shown; the source still decides."""
    add(place)
    name = f"evidence-plan-1-{excerpts.hash_of('two' + chr(10) + 'three')[:8]}.txt.gz"
    assert (place.workspace.state_root / artifacts.relative_path(TASK, name)).exists()
    artifacts.write(place.workspace, TASK, name, data)
    shown = show(place)
    assert (shown.state, shown.text, len(shown.notes)) == (SAME, "two\nthree", 1)
    write(place, "x\n")
    assert (show(place).state, show(place).text) == (CHANGED, None)


def test_a_refused_excerpt_leaves_no_text_behind(place: Place) -> None:
    """What refuses the write of the state file refuses the artifact too."""
    request = place.request()._replace(metadata=WriteMetadata(actor="ghp_" + "a1B2c3D4e5" * 4, now=place.now))
    error = refusal(
        lambda: excerpts.add(place.workspace, TASK, excerpts.Source("plan", "docs/plan.md", "2-3"), request)
    )
    assert error.code == "secret"
    assert not (place.workspace.state_root / "artifacts").exists()


def test_unknown_excerpt(place: Place) -> None:
    """An id that is none is refused with the nearest, or all, or the command that adds one."""
    assert refusal(lambda: show(place)).help == "`taskstate evidence add 101 --type T --path P` adds one"
    add(place)
    assert refusal(lambda: show(place, "plan-2")).help == "did you mean plan-1?"
    error = refusal(lambda: show(place, "x"))
    assert (error.code, error.help) == ("not-found", "it has plan-1")


def test_entries_by_hand(place: Place) -> None:
    """Entries that lack what is needed are passed over; a place is shown without what a terminal would obey."""
    entry = '{id: a-1, path: "a\\tb", sha256: "' + "0" * 64 + '"}'
    place.text = place.text.replace("\n---\n", f"\nevidence: [{entry}, {{id: b-1}}, 7]\n---\n", 1)
    result = excerpts.listed(place.workspace, TASK)
    assert [(each.id, each.type, each.lines) for each in result] == [("a-1", "", None)]
    assert excerpts.citation(result[0], TASK).startswith("[a-1] a\\tb sha256:")
