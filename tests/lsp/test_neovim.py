"""A real editor, driven without a screen: it shows a finding, applies the fixes, and saves what `lint --fix` gives."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from taskstate.lint import engine
from taskstate.model.config import Config
from tests.support.git_place import GitPlace

STATE = ".taskstate/tasks/task-101-state.md"
_SCRIPT = """
vim.lsp.start({ name = 'taskstate', cmd = { PYTHON, '-m', 'taskstate', 'lsp' }, root_dir = vim.fn.getcwd() })
local shown = vim.wait(30000, function() return #vim.diagnostic.get(0) > 0 end, 50)
local params = vim.lsp.util.make_range_params(0, 'utf-16')
params.context = { diagnostics = {}, only = { 'source.fixAll.taskstate' } }
for _, answer in pairs(vim.lsp.buf_request_sync(0, 'textDocument/codeAction', params, 30000) or {}) do
  for _, action in ipairs(answer.result or {}) do
    vim.lsp.util.apply_workspace_edit(action.edit, 'utf-16')
  end
end
vim.cmd('write')
vim.cmd(shown and 'qall!' or 'cquit!')
"""


PAGE = (Path(__file__).parents[2] / "docs" / "editors.md").read_text(encoding="utf-8")
_NVIM = shutil.which("nvim", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
_SAVE = """
vim.wait(30000, function() return #vim.diagnostic.get(0) > 0 end, 50)
local shown = vim.diagnostic.get(0)[1]
vim.cmd('write')
vim.fn.writefile({ shown and shown.code or 'none', tostring(vim.bo.modified) }, 'said')
vim.cmd('qall!')
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(_NVIM is None, reason="there is no Neovim for this machine among the packages, nor on the path"),
]


@pytest.fixture
def place(tmp_path: Path) -> GitPlace:
    """Return a repository whose task has a title line that does not fit."""
    place = GitPlace(tmp_path.resolve() / "repository")
    text = (place.root / STATE).read_text(encoding="utf-8")
    (place.root / STATE).write_text(
        text.replace("# Task #101: JWT Service", "# Task #101: JWT service"), encoding="utf-8"
    )
    return place


def drive(place: GitPlace, tmp_path: Path, script: str, *arguments: str) -> None:
    """Open the file in Neovim without a screen, and run a script there."""
    (tmp_path / "drive.lua").write_text(script, encoding="utf-8")
    assert _NVIM
    command = [_NVIM, "--headless", *arguments, STATE, "-c", f"luafile {tmp_path / 'drive.lua'}"]
    folders = {"XDG_STATE_HOME": str(tmp_path / "state"), "XDG_CONFIG_HOME": str(tmp_path / "none")}
    around = os.environ | folders | {"PYTHONPATH": str(Path(__file__).parents[2])}
    around["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(command, cwd=place.root, env=around, capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr


def fixed(text: str) -> str:
    """Return what `lint --fix` makes of a text."""
    return engine.fix(text, STATE, Config()).text


def test_neovim_shows_mends_and_saves(place: GitPlace, tmp_path: Path) -> None:
    """The file that the editor saves after the action is the one that the safe fixes give."""
    bad = (place.root / STATE).read_text(encoding="utf-8")
    drive(place, tmp_path, _SCRIPT.replace("PYTHON", repr(sys.executable)), "--clean")
    assert (place.root / STATE).read_text(encoding="utf-8") == fixed(bad) != bad


def test_the_set_up_of_the_page_mends_on_saving(place: GitPlace, tmp_path: Path) -> None:
    """With the page's own lines in `init.lua` the finding is shown, and one `:write` leaves the mended file."""
    fence = re.search(r"^```lua\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert fence
    (tmp_path / "init.lua").write_text(fence[1], encoding="utf-8")
    bad = (place.root / STATE).read_text(encoding="utf-8")
    drive(place, tmp_path, _SAVE, "-u", str(tmp_path / "init.lua"))
    assert (place.root / "said").read_text(encoding="utf-8").split() == ["TS206", "false"]
    assert (place.root / STATE).read_text(encoding="utf-8") == fixed(bad) != bad
