from __future__ import annotations

import subprocess
import sys

import pytest

import taskstate


@pytest.mark.parametrize("name", [name for name in taskstate.__all__ if name != "__version__"])
def test_a_public_name_is_the_one_its_module_defines(name: str) -> None:
    """Each name that the package exports is the definition of that name in its module."""
    assert getattr(taskstate, name).__name__ == name


def test_a_document_can_be_read_and_changed_with_the_public_names_alone() -> None:
    """Parse, read, edit and apply are enough for a program that changes a file."""
    text = '---\ntask_id: "7"\n---\n\n# A\n'
    state = taskstate.read_state(taskstate.parse(text))
    assert state.id == "7"
    assert taskstate.apply(text, [taskstate.Edit(len(text), len(text), "b\n")]) == text + "b\n"


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A name that the package does not have is refused as in every module."""
    with pytest.raises(AttributeError, match="nonsense"):
        taskstate.nonsense  # noqa: B018 - asking is the test


def test_importing_the_package_loads_no_other_module() -> None:
    """`import taskstate` loads the version and nothing else of the package."""
    code = "import sys, taskstate; print(*sorted(name for name in sys.modules if name.startswith('taskstate')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["taskstate", "taskstate.version"]
