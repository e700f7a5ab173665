"""After a task is reopened its work has a new base."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.model.delta_block import Left, with_left
from taskstate.model.write_metadata import blocks_of, set_front_matter
from taskstate.snapshots.new_base import with_new_base
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from tests.support.git_place import GitPlace

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow  # it starts many processes, most of them git


def test_head_is_the_new_base(tmp_path: Path) -> None:
    """Base commit and tree are those of HEAD, what was left is gone, and snapshots say what they took from the base."""
    place = GitPlace(tmp_path / "repository")
    place.write("a.txt", "changed\n")
    place.take()
    before, base_tree = place.values["delta"], place.base_tree
    place.commit("work")
    document = parse(place.text)
    left = with_left(blocks_of(document).delta, Left("a" * 40, "b" * 40, "main"))
    text = apply(document.text, set_front_matter(document, "delta", left.values))
    delta = blocks_of(parse(with_new_base(place.workspace, text))).delta
    assert (delta.base_commit, delta.left) == (place.git("rev-parse", "HEAD"), None)
    assert (delta.base_tree, place.base_tree) == (None, base_tree)
    snapshot = delta.snapshots["implementer"]
    assert (snapshot.head, snapshot.start_tree) == (before["base_commit"], base_tree)


def test_task_without_coordination_stays_as_it_is(tmp_path: Path) -> None:
    """Where there is no delta block, none is begun."""
    place = GitPlace(tmp_path / "repository")
    assert with_new_base(place.workspace, place.text) == place.text
