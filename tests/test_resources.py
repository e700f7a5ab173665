from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import taskstate
from taskstate import resources
from taskstate.errors import TaskstateError

CHECKOUT = Path(taskstate.__file__).parent.parent


def test_text_is_that_of_the_file() -> None:
    """A resource's text is what stands in the checkout."""
    assert resources.text("schemas/task.schema.json") == (CHECKOUT / "schemas" / "task.schema.json").read_text("utf-8")


def test_path_is_a_real_file() -> None:
    """A resource can be found on the disk, to be copied."""
    assert resources.path("schemas/task.schema.json").is_file()


def test_names_can_be_read() -> None:
    """Every name that a folder lists is that of a resource, and the folders below are listed by themselves."""
    listed = resources.names("schemas")
    assert "schemas/task.schema.json" in listed
    assert listed == tuple(sorted(listed))
    assert all(resources.text(name) for name in listed)
    assert "schemas/kinds/task.json" in resources.names("schemas/kinds")


@pytest.mark.parametrize("name", ["schemas/none.json", "schemas", "schemas/kinds"])
def test_a_missing_resource_says_what_to_do(name: str) -> None:
    """What the installation lacks, or is no file, is one clear error."""
    for read in (resources.text, resources.path):
        with pytest.raises(TaskstateError, match="install taskstate again") as caught:
            read(name)
        assert caught.value.code == "resource"
    with pytest.raises(TaskstateError, match="lacks schemas/none"):
        resources.names("schemas/none")


@pytest.mark.parametrize(
    "name", ["", "pyproject.toml", "taskstate/errors.py", "schemas/../pyproject.toml", "/etc/passwd", "schemas//x"]
)
def test_only_resources_are_read(name: str) -> None:
    """A name cannot lead out of the three folders."""
    with pytest.raises(TaskstateError, match="is not the name of a resource"):
        resources.text(name)


def test_an_installation_is_told_from_the_one_before_by_its_first_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is cached is not used by another installation, and by none of whose checkout any file has changed."""
    (tmp_path / "_data").mkdir()
    first = tmp_path / "resources.py"
    first.write_text("")
    monkeypatch.setattr(resources, "_PACKAGE", tmp_path)
    monkeypatch.setattr(resources, "__file__", str(first))
    before = resources.fingerprint()
    (tmp_path / "other.py").write_text("")
    assert resources.fingerprint() == before
    os.utime(first, ns=(1, 1))
    assert resources.fingerprint() != before


def test_a_wheels_own_data_comes_first(tmp_path: Path) -> None:
    """In a wheel the data lie inside the package; folders of the same name beside it belong to somebody else."""
    package = tmp_path / "taskstate"
    package.mkdir()
    (package / "__init__.py").touch()
    for name in ("errors.py", "resources.py", "typed.py", "version.py"):
        shutil.copy(CHECKOUT / "taskstate" / name, package)
    for folder, word in ((package / "_data", "ours"), (tmp_path, "somebody else's")):
        (folder / "schemas").mkdir(parents=True)
        (folder / "schemas" / "a.json").write_bytes(json.dumps(word).encode() + b"\r\n")
    program = "from taskstate import resources as r; print(r.names('schemas'), repr(r.text('schemas/a.json')))"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "('schemas/a.json',) '\"ours\"\\n'\n"


def test_the_digest_is_that_of_the_contents(tmp_path: Path) -> None:
    """An installed copy has that of the checkout, whenever it was written, until a file of it is another one."""
    package = tmp_path / "taskstate"
    shutil.copytree(CHECKOUT / "taskstate", package, copy_function=shutil.copyfile)
    for folder in ("hooks", "schemas", "templates"):
        shutil.copytree(CHECKOUT / folder, package / "_data" / folder)
    program = [sys.executable, "-c", "from taskstate import resources; print(resources.digest())"]

    def digest() -> str:
        return subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.strip()

    assert digest() == resources.digest()
    with (package / "errors.py").open("a", encoding="utf-8") as file:
        file.write("\n")
    assert digest() != resources.digest()
