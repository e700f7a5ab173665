"""The examples on the page about the Python API work, one after the other, in a new repository."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import taskstate
from taskstate.api import Repository

PAGE = (Path(__file__).parent.parent / "docs" / "api.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
MOST_LINES = 14


def test_the_examples_run(repository: Path) -> None:
    """In their order, as one program; nothing but the last refusal is on standard error."""
    subprocess.run(["git", "commit", "--quiet", "--allow-empty", "--message", "Begin"], cwd=repository, check=True)
    program = "\n".join(EXAMPLES)
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "revision - " in done.stdout
    assert "token" in (repository / "app.py").read_text(encoding="utf-8")


def test_examples_are_short() -> None:
    """Each takes about ten lines."""
    assert len(EXAMPLES) == 10
    assert [each for each in EXAMPLES if len(each.splitlines()) > MOST_LINES] == []


def test_every_public_name_and_method_stands_on_the_page() -> None:
    """A name that is promised is shown, with how it is used."""
    methods = [name for name in vars(Repository) if not name.startswith("_") and name not in Repository._fields]
    public = [name for name in taskstate.__all__ if name not in {"__version__", "Repository", "Document", "TaskState"}]
    assert len(methods) > 20
    assert [name for name in (*methods, *public) if not re.search(rf"\b{name}\b", PAGE)] == []


def test_every_public_name_is_promised() -> None:
    """The page about stability lists each of them."""
    page = (Path(__file__).parent.parent / "docs" / "stability.md").read_text(encoding="utf-8")
    _, _, promise = page.partition("### Names of the Python API\n")
    promise, _, _ = promise.partition("\n## ")
    assert [name for name in taskstate.__all__ if name != "__version__" and f"`{name}`" not in promise] == []
