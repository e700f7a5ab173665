"""A real editor, driven without a screen: it shows a finding, applies the fixes, and saves what `lint --fix` gives."""

from __future__ import annotations

import os
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


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvim") is None, reason="Neovim is not on the path, and no package index has it")
def test_neovim_shows_mends_and_saves(tmp_path: Path) -> None:
    """The file that the editor saves after the action is the one that the safe fixes give."""
    place = GitPlace(tmp_path.resolve() / "repository")
    path = place.root / STATE
    bad = path.read_text(encoding="utf-8").replace("# Task #101: JWT Service", "# Task #101: JWT service")
    path.write_text(bad, encoding="utf-8")
    script = tmp_path / "drive.lua"
    script.write_text(_SCRIPT.replace("PYTHON", repr(sys.executable)), encoding="utf-8")
    command = ["nvim", "--headless", "--clean", STATE, "-c", f"luafile {script}"]
    around = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(command, cwd=place.root, env=around, capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert path.read_text(encoding="utf-8") == engine.fix(bad, STATE, Config()).text
