"""What the imports of Python files say about modules and their dependencies."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from taskstate.model.impact_faults import faults
from taskstate.model.impact_map import EMPTY
from taskstate.permanent.impact.scan import scan
from taskstate.permanent.impact.storage import repository_files
from tests.support.impact_maps import map_with, module
from tests.support.place import Place

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from taskstate.model.impact_map import ImpactMap
    from taskstate.permanent.impact.scan import Scan


FOLDERS = ("with space", "a[b]", "a,b", "{x,y}", "e\x1b")


class Code:
    """A repository of Python files."""

    def __init__(self, root: Path) -> None:
        self.place = Place(root)

    def scan(self, files: Mapping[str, str], map_: ImpactMap = EMPTY, depth: int = 2) -> Scan:
        """Write files, given without their ending, and scan them."""
        for name, text in files.items():
            path = self.place.root / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return scan(self.place.workspace, map_, repository_files(self.place.workspace), depth)


@pytest.fixture
def code(tmp_path: Path) -> Code:
    """Return a repository without code."""
    return Code(tmp_path / "repository")


def found(result: Scan) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the proposed modules by id: their globs, and what they need."""
    return {each.id: (each.paths, each.depends_on) for each in result.proposed.modules}


@pytest.mark.parametrize(
    "line",
    [
        "import b",
        "import b.x",
        "import b.x as y, os",
        "from b import x",
        "from b.x import name",
        "from b import *",
        "from ..b import x",
        "from .. import b",
        "def f():\n    import b.x",
        "if TYPE_CHECKING:\n    from b import x",
        "try:\n    import b\nexcept ImportError:\n    pass",
    ],
)
def test_forms_of_imports(code: Code, line: str) -> None:
    """Wherever an import stands, and however it is written, it counts."""
    result = code.scan({"a/m": f"{line}\n", "b/x": "name = 1\n", "b/__init__": ""})
    assert found(result)["a"] == (("a/**",), ("b",))


@pytest.mark.parametrize(
    "line", ["import os", "import bb", "from . import x", "from .... import b", "x = 'import b'", ""]
)
def test_what_is_no_import_of_another_module(code: Code, line: str) -> None:
    """Other libraries, one's own files, a path above the root, and text are none."""
    assert found(code.scan({"a/m": f"{line}\n", "a/x": "", "b/x": ""}))["a"][1] == ()


def test_packages_are_split_by_folder(code: Code) -> None:
    """Two folders deep below the sources; what lies beside sub-folders is a module of its own files."""
    files = {
        "src/app/__init__": "",
        "src/app/main": "from app.web import page\n",
        "src/app/web/__init__": "",
        "src/app/web/page": "from .deep import leaf\nfrom app.store import rows\n",
        "src/app/web/deep/leaf": "",
        "src/app/store/rows": "",
        "setup": "import app.main\n",
    }
    assert found(code.scan(files)) == {
        "setup": (("setup.py",), ("app",)),
        "app": (("src/app/*.py",), ("app.web",)),
        "app.store": (("src/app/store/**",), ()),
        "app.web": (("src/app/web/**",), ("app.store",)),
    }
    assert [*found(code.scan({}, depth=1))] == ["setup", "app"]


def test_files_of_the_map_stay_in_their_modules(code: Code) -> None:
    """New dependencies are added, others stay, and new modules come for files in none."""
    map_ = map_with(module("a", "z", **{"x-team": "blue"}), module("z", planned=True))
    result = code.scan({"a/m": "import b.x\n", "b/x": ""}, map_)
    assert result.proposed.values["modules"][0] == {**module("a", "z", "b"), "x-team": "blue"}
    assert result.differences == (
        "module a imports b, which the map does not say",
        "new module b: b/**",
    )


def test_a_circle_in_the_code_is_told(code: Code) -> None:
    """The proposal says that it is allowed, so that it can be taken; a person decides whether it is meant."""
    result = code.scan({"a/m": "import b.x\n", "b/x": "import a.m\n"})
    assert faults(result.proposed) == ()
    assert result.differences[-1] == "a circle of imports goes through a, b: the proposal says that it is allowed"


@pytest.mark.parametrize("text", ["def (", "\0", "x = '\\d'\n\0", "(" * 10_000, "x = " + "-" * 100_000 + "1"])
def test_files_that_do_not_parse(code: Code, text: str) -> None:
    """They are named, and the others are read."""
    result = code.scan({"a/bad": text, "a/m": "import b.x\n", "b/x": "y = '\\d'\n"})
    assert result.unread == ("a/bad.py",)
    assert found(result)["a"][1] == ("b",)


def test_names_that_a_glob_or_an_id_cannot_hold(code: Code) -> None:
    """A proposal is always a map that can be taken."""
    for folder in (*FOLDERS, os.fsdecode(b"x\xff")):
        (code.place.root / folder).mkdir()
        (code.place.root / folder / "m.py").write_text("")
    result = code.scan({})
    assert faults(result.proposed) == ()
    assert sorted(found(result)) == ["a-b", "a[b]", "e\\x1b", "with-space", "x\\udcff", "{x-y}"]
    for folder in FOLDERS:
        name = f"{folder}/m.py"
        assert len(result.proposed.modules_of([name])[name]) == 1


def test_nothing_of_the_code_is_run(code: Code) -> None:
    """It is parsed alone."""
    code.scan({"a/m": "open('ran', 'w')\nimport a.n\n", "a/n": "open('ran', 'w')\n"})
    assert not (code.place.root / "ran").exists()
