from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from taskstate.lint import engine
from taskstate.lint.runner import LintRequest, LintRun, Report, check_files, open_run, own_files_in
from taskstate.storage import file_sources, programs
from taskstate.workspace.run_cache import RunCache
from tests.support.place import Place, refusal

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.lint.diagnostics import Finding
    from taskstate.lint.queries.interface import Queries
    from taskstate.model.config import Config

NOW = "2026-02-01T00:00:00Z"
WRONG = ("# Task #101: JWT Service", "# Task #101: JWT service")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with task 101."""
    return Place(tmp_path / "repository")


# Which files


def test_folders_hold_our_own_files(place: Place) -> None:
    """Folders are searched for our own files; a named file that is none gives a remark."""
    readme = place.root / "README.md"
    readme.write_text("x\n", encoding="utf-8")
    found, others = own_files_in(place.workspace, [place.root, place.path, readme])
    assert found == (place.path,)
    assert [line.split(" was not checked")[0] for line in others] == [str(readme)]


def test_excluded_files_are_left_out_in_silence(place: Place) -> None:
    """What the configuration excludes is none of ours, also where it is named."""
    place.configure('exclude = ["docs/**"]\n')
    path = place.root / "docs" / "task-7-state.md"
    path.parent.mkdir()
    path.write_text("x\n", encoding="utf-8")
    assert own_files_in(place.workspace, [path, path.parent]) == ((), ())
    assert own_files_in(place.workspace, [place.root]) == ((place.path,), ())


def test_missing_path_is_an_error(place: Place) -> None:
    """A path that does not exist is an error, with control characters spelled out."""
    error = refusal(lambda: own_files_in(place.workspace, [place.root / "no\x1bne"]))
    assert error.code == "not-found"
    assert "no\\x1bne" in error.message


def test_unreadable_file_stops_no_other(place: Place) -> None:
    """A file that cannot be read is reported, and the others are checked."""
    link = place.path.with_name("task-7-state.md")
    link.symlink_to("nowhere")
    found, others = own_files_in(place.workspace, [link, place.path])
    report = check_files(found, place.checking())
    assert (others, report.files, report.findings) == ((), 1, ())
    assert "task-7-state.md" in report.unreadable[0]


def test_findings_stand_under_the_path_from_the_root(place: Place) -> None:
    """A finding has its file's path from the repository's root, and a clean file has none."""
    assert check_files([place.path], place.checking()).findings == ()
    place.path.write_bytes(b"\xff")
    report = check_files([place.path], place.checking())
    assert [(each.path, each.diagnostic.code) for each in report.findings] == [
        (".taskstate/tasks/task-101-state.md", "TS001")
    ]
    assert report.files == 1


# The cache


def settled(path: Path) -> None:
    """Make a file look as if it had been written a minute ago, and as if nobody had touched it since."""
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns - 60 * 10**9))


def run(place: Place, *, config: Config | None = None, now: str = NOW, jobs: int = 1) -> tuple[Report, LintRun]:
    """Check the repository as a command does, with the cache of earlier runs."""
    lint_run, _ = open_run(place.workspace, config or place.workspace.config, LintRequest(now=now, jobs=jobs))
    found, _ = own_files_in(place.workspace, [place.root])
    report = check_files(found, lint_run)
    assert lint_run.cache
    lint_run.cache.save()
    lint_run.repository.close()
    return report, lint_run


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list of the names of checked files, which grows with every check."""
    names: list[str] = []
    findings = engine.findings

    def noted(data: bytes, name: str, config: Config, queries: Queries) -> tuple[Finding, ...]:
        names.append(name)
        return findings(data, name, config, queries)

    monkeypatch.setattr(engine, "findings", noted)
    return names


def test_file_that_a_command_removed_meanwhile_is_no_error(place: Place) -> None:
    """A file that is gone since it was listed is neither a finding nor a failure."""
    gone = place.path.with_name("task-102-state.md")
    report = check_files([place.path, gone], place.checking())
    assert (report.findings, report.unreadable) == ((), ())


def test_what_has_not_changed_is_not_checked_again(place: Place, checked: list[str]) -> None:
    """A second run calls no rule, and gives the same findings with the same fixes."""
    place.text = place.text.replace(*WRONG)
    first, _ = run(place)
    assert [each.diagnostic.code for each in first.findings] == ["TS206"]
    assert run(place)[0] == first
    assert len(checked) == 1


def test_a_changed_file_is_checked_again(place: Place, checked: list[str]) -> None:
    """Another text gives other findings, also where size and time of the file are the same."""
    run(place)
    status = place.path.stat()
    place.text = place.text.replace(*WRONG)
    os.utime(place.path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert place.path.stat().st_size == status.st_size
    assert [each.diagnostic.code for each in run(place)[0].findings] == ["TS206"]
    assert len(checked) == 2


def test_a_file_written_anew_with_the_same_bytes_is_not_checked_again(place: Place, checked: list[str]) -> None:
    """A checkout that gives a file another time costs a look at its bytes, no more."""
    run(place)
    place.text = place.text
    settled(place.path)
    run(place)
    assert len(checked) == 1


def test_another_configuration_has_another_cache(place: Place, checked: list[str]) -> None:
    """Results under other settings are not used."""
    run(place)
    lint = place.workspace.config.lint._replace(select=("TS2",))
    run(place, config=place.workspace.config._replace(lint=lint))
    assert len(checked) == 2


def test_the_clock_is_asked_again(place: Place) -> None:
    """A timestamp in the future is reported until that time, though no file has changed."""
    assert [each.diagnostic.code for each in run(place, now="2020-01-01T00:00:00Z")[0].findings] == ["TS104"]
    assert run(place)[0].findings == ()


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"a": 1}', b'{"a": [1, 2, 3, 4]}', b"\xff", b"[" * 100_000])
def test_a_damaged_cache_is_ignored(place: Place, checked: list[str], data: bytes) -> None:
    """Files are checked again where the cache cannot be read."""
    run(place)
    (cache,) = place.cache("x").parent.glob("lint-*.json")
    cache.write_bytes(data)
    assert run(place)[0].findings == ()
    assert len(checked) == 2


def test_without_a_writable_cache_all_is_checked(place: Place) -> None:
    """A cache that cannot be written is no obstacle."""
    place.cache("x").parent.parent.mkdir(exist_ok=True)
    place.cache("x").parent.write_bytes(b"")
    assert run(place)[0].findings == run(place)[0].findings == ()


def many_files(place: Place) -> tuple[Path, ...]:
    """Return so many files that several processes are worth it."""
    filler = "word " * 16_000
    for number in range(200, 250):
        text = place.text.replace("101", str(number)).replace("Issue tokens.", filler)
        (place.path.parent / f"task-{number}-state.md").write_text(text.replace("# Task", "# Tosk"), encoding="utf-8")
    return own_files_in(place.workspace, [place.root])[0]


@pytest.mark.slow
def test_worker_processes_run_no_file_of_the_current_folder(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where they are not forked, as on macOS, Python would look for their first module in the current folder."""
    monkeypatch.setattr(programs, "_METHOD", "spawn")
    monkeypatch.chdir(place.root)
    for name in ("multiprocessing", "encodings", "site"):
        code = f"open({str(place.root / 'ran')!r}, 'w')\n"
        (place.root / f"{name}.py").write_text(f"{code}raise SystemExit(1)\n", encoding="utf-8")
    report = check_files(many_files(place), place.checking()._replace(jobs=2))
    assert len(report.findings) >= 50
    assert not (place.root / "ran").exists()
    assert "PYTHONSAFEPATH" not in os.environ


@pytest.mark.slow
def test_several_processes_find_what_one_finds(place: Place) -> None:
    """Many files are checked on all cores, with the same findings in the same order."""
    found = many_files(place)
    one, several = (place.checking()._replace(jobs=jobs) for jobs in (1, 2))
    progress: list[tuple[int, int]] = []
    expected = check_files(found, one)
    assert check_files(found, several, lambda *done: progress.append(done)) == expected
    assert len(expected.findings) >= 50
    assert progress[-1] == (len(found), len(found))


def circle(place: Place) -> tuple[Path, ...]:
    """Return many files, of which two that different processes check depend on each other, and one on the first."""
    found = many_files(place)
    for number, upstream in ((200, 249), (249, 200), (220, 200)):
        path = place.path.parent / f"task-{number}-state.md"
        text = path.read_text(encoding="utf-8")
        assert "\ncreated_at:" in text
        path.write_text(text.replace("\ncreated_at:", f'\ndepends_on: ["{upstream}"]\ncreated_at:'), encoding="utf-8")
    return found


@pytest.mark.slow
def test_several_processes_find_a_circle_together(place: Place) -> None:
    """Tasks that depend on each other are found where no process checks both, and so does the next run."""
    found = circle(place)
    expected = check_files(found, place.checking()._replace(jobs=1))
    assert [each.path[-12:] for each in expected.findings if each.diagnostic.code == "TS905"] == [
        "200-state.md",
        "249-state.md",
    ]
    assert check_files(found, place.checking()._replace(jobs=2)) == expected
    assert run(place, jobs=2)[0] == run(place)[0] == expected


@pytest.mark.slow
def test_the_next_run_knows_what_several_processes_have_read(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the files depend on is kept for the next run, which then reads none of them to look for circles."""
    monkeypatch.setattr(file_sources, "_COARSEST_NS", 0)
    circle(place)
    first, _ = run(place, jobs=2)
    monkeypatch.setattr(RunCache, "upstream", None)
    assert run(place)[0] == first


def test_files_that_are_gone_are_forgotten(place: Place) -> None:
    """Checking the whole repository keeps nothing about files that it does not have."""
    other = place.path.with_name("task-7-state.md")
    other.write_text(place.text.replace("101", "7"), encoding="utf-8")
    _, lint_run = run(place)
    assert lint_run.cache
    assert lint_run.cache.get(".taskstate/tasks/task-7-state.md")
    lint_run.cache.keep([lint_run.name(place.path)])
    lint_run.cache.save()
    other.unlink()
    again = run(place)[1].cache
    assert again
    assert again.get(".taskstate/tasks/task-7-state.md") is None
    assert again.get(lint_run.name(place.path))
