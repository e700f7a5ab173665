"""Each sample in `tests/cases/import/SYSTEM`: what it becomes stands in `expected.json` there.

A new sample needs no Python: a folder with the files, and an entry with the arguments of `import` and what must come
out. A key that is absent is not asserted.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.importing import CASES, hashes, samples, shape_of, text_of
from tests.support.place import tree

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.workspace.workspace import Workspace
    from tests.cli.conftest import Cli

SAMPLES = [*samples()]
TEXTS = ("notes_contain", "description_contains", "summary_contains")


@pytest.mark.parametrize(("system", "name", "sample"), SAMPLES, ids=[f"{each[0]}/{each[1]}" for each in SAMPLES])
def test_a_sample_comes_in(system: str, name: str, sample: dict[str, Any], cli: Cli, tmp_path: Path) -> None:
    """As its expectation says; the dry run tells the same, again changes no byte, and the source stays as it is."""
    source = tmp_path / "source"
    shutil.copytree(CASES / system / name, source / name)
    before = hashes(source)
    words = [str(source / each) if (source / each).exists() else each for each in sample["run"]]
    if "--into" in words:
        cli.ok("new", words[words.index("--into") + 1], "--title=Into", "--description=d", "--criterion=c")
    status = sample.get("exit", 0)
    planned = cli.json("import", system, *words, "--dry-run", status=status)
    assert not [*(cli.place.root / ".taskstate").glob("imports/*")]
    done = cli.json("import", system, *words, status=status)
    assert {key: planned[key] for key in done} == done
    _require_told(done, sample)
    workspace = cli.place.workspace
    for expected in sample.get("tasks", ()):
        _require_task(workspace, expected)
    assert hashes(source) == before
    assert cli("lint", "--against", "none").status == 0
    written = tree(cli.place.root)
    cli("import", system, *words)
    assert tree(cli.place.root) == written


def _require_told(done: dict[str, Any], sample: dict[str, Any]) -> None:
    if "counts" in sample:
        assert {key: each for key, each in done["counts"].items() if each or key == "in"} == sample["counts"]
    assert set(sample.get("warnings", ())) <= set(done["warnings"])
    for outcome in ("refused", "left"):
        records = [each for each in done["records"] if each["outcome"] == outcome]
        told = [f"{each['place'].rpartition('/')[2]} {each['why'].partition(':')[0]}" for each in records]
        assert told == sample.get(outcome, []), outcome


def _require_task(workspace: Workspace, expected: dict[str, Any]) -> None:
    shape, text = shape_of(workspace, expected["id"]), text_of(workspace, expected["id"])
    wanted = {key: value for key, value in expected.items() if key in shape}
    assert {key: shape[key] for key in wanted} == wanted
    for key in TEXTS:
        assert not [each for each in expected.get(key, ()) if each not in text], text
