"""A child and a command that are killed at any change of the disk: what is there is whole, and the next run goes on."""

from __future__ import annotations

import shutil
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

import pytest

from taskstate.fleet import manifest, parts, run
from taskstate.model.config import Fleet
from tests.support.bare_repositories import NOW, bare, tasks
from tests.support.crashing import forks, killed
from tests.support.place import tree

if TYPE_CHECKING:
    from pathlib import Path

ABOUT = {"rows": {"files": 1}, "repositories": 1, "errors": [], "rests_on_clock": [], "settings": "", "keys": {}}


@pytest.fixture
def mirrors(tmp_path: Path) -> Path:
    """Return a folder with two repositories."""
    folder = tmp_path / "m"
    folder.mkdir()
    for name in ("a", "b"):
        bare(folder / name, tasks(1))
    return folder


def _index(mirrors: Path, out: Path) -> run.Outcome:
    return run.index(out, run.Request([str(mirrors)], mirrors, NOW, jobs=1, lint=False), Fleet(), lambda *_: None)


def _finished(folder: Path) -> parts.Done:
    made = folder / "made"
    made.mkdir(parents=True)
    for name in ("files", "repos"):
        (made / f"{name}.parquet").write_bytes(name.encode())
    return parts.finish(made, folder / "part", ABOUT)


@forks
@pytest.mark.parametrize("torn", [False, True])
def test_a_part_is_whole_or_not_there(tmp_path: Path, *, torn: bool) -> None:
    """Before, in and after the rename that ends it; who makes it again has the same."""
    whole = _finished(tmp_path / "0")
    for number in count(1):
        folder = tmp_path / str(number)
        died = killed(partial(_finished, folder), number, torn=torn)
        assert parts.read_done(folder / "part") == (whole if (folder / "part").exists() else None)
        shutil.rmtree(folder / "made", ignore_errors=True)
        assert _finished(folder) == whole
        assert {path.name for path in folder.iterdir()} == {"part"}
        if not died:
            break
    assert number > 5


@forks
def test_a_command_killed_between_parts_and_manifest_is_run_again(mirrors: Path, tmp_path: Path) -> None:
    """There is the old run or the new one, and the same command ends in the same bytes."""
    made = _index(mirrors, tmp_path / "out")
    (tmp_path / "out" / "manifest-1.json").unlink()
    before = tree(tmp_path / "out")
    for number in count(1):
        out = tmp_path / str(number)
        shutil.copytree(tmp_path / "out", out)
        died = killed(partial(_index, mirrors, out), number)
        assert manifest.newest(out) in [None, made.manifest]
        again = _index(mirrors, out)
        assert (again.done, again.manifest._replace(number=1)) == (0, made.manifest)
        left = {name: data for name, data in tree(out).items() if not name.startswith("manifest-")}
        assert left == before
        if not died:
            break
    assert number > 5


@forks
def test_a_killed_clean_leaves_what_the_last_run_names(mirrors: Path, tmp_path: Path) -> None:
    """What is deleted is first no more named, so that whoever asks meanwhile is answered."""
    _index(mirrors, tmp_path / "out")
    bare(mirrors / "c", tasks(1))
    last = _index(mirrors, tmp_path / "out").manifest
    for number in count(1):
        out = tmp_path / str(number)
        shutil.copytree(tmp_path / "out", out)
        died = killed(partial(manifest.clean, out, 1), number)
        assert manifest.newest(out) == last
        assert len(manifest.dones(out, last)) == len(last.parts)
        manifest.clean(out, 1)
        assert sorted(path.name for path in (out / parts.FOLDER).iterdir()) == last.parts
        if not died:
            break
    assert number > 3
