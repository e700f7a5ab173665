"""The cure for an open handoff whose document is gone is one that works: as kept, from git, or none of both."""

from __future__ import annotations

import re
import shlex
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.support.kept_place import Repo, story

if TYPE_CHECKING:
    from pathlib import Path

NEW = "handoff new 101 --phase 1 --action Go --file app.py --location here --goal Works --context fact"


def lost(root: Path, *, committed: bool, known: bool) -> tuple[Repo, Path]:
    """Return a repository whose open handoff was deleted, and its path; `known` is whether a copy is kept."""
    repo = story(root)
    repo.commit("five")
    repo.ok(*shlex.split(NEW))
    if committed:
        repo.commit("handed over")
    (document,) = (repo.root / ".taskstate/handoffs/task-101").glob("*.md")
    document.unlink()
    if not known:
        repo.remove(".git/taskstate")
    return repo, document


def cures(text: str) -> list[str]:
    """Return the commands that are to bring a document back."""
    return re.findall(r"`([^`]+)` (?:brings it back|puts it back)", text)


@pytest.mark.parametrize(("committed", "known"), [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("command", ["lint", "handoff accept 101"])
def test_the_cure_brings_it_back(tmp_path: Path, command: str, *, committed: bool, known: bool) -> None:
    """The command that is named is run, and the document is there."""
    repo, document = lost(tmp_path / "repository", committed=committed, known=known)
    done = repo.run(*shlex.split(command))
    (cure,) = cures(done.out + done.err)
    assert ("git" in cure) == committed, done
    program, *words = shlex.split(cure)
    if program == "taskstate":
        repo.ok(*words)
    else:
        subprocess.run([program, *words], cwd=repo.root, check=True)
    assert document.exists()


def test_what_nobody_has_is_not_promised(tmp_path: Path) -> None:
    """Where neither git nor a copy has the document, only another one takes its place."""
    repo, _ = lost(tmp_path / "repository", committed=False, known=False)
    refused = repo.run("handoff", "accept", "101")
    assert (refused.status, cures(refused.err)) == (2, [])
    assert "taskstate handoff new 101 --force" in refused.err
