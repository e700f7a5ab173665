"""The versions of files in commits, whatever their names are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.storage.git import history
from tests.support.git_place import GitPlace

if TYPE_CHECKING:
    from pathlib import Path


def test_name_with_a_line_end_has_its_place_among_the_others(tmp_path: Path) -> None:
    """A commit can hold such a name; git cannot be asked for it, and the answers for other files stay theirs."""
    place = GitPlace(tmp_path / "repository")
    commit = place.commit("last")
    found = dict(history.versions(place.root, ("x\ny", "a.txt"), history.REFS))
    assert found == {place.git("rev-list", "-1", commit, "--", "a.txt"): (None, b"one\ntwo\nthree\n")}
    assert {texts for _, texts in history.versions(place.root, ("x\ny",), history.REFS)} <= {(None,)}
