"""What to look at first: drift, open findings, a stale context; said by `brief`, `status` and `doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unittest.mock import Mock

import pytest

from taskstate.brief import attention as parts
from taskstate.brief import brief
from taskstate.brief.attention import DRIFT as DRIFTED
from taskstate.brief.attention import attention
from taskstate.context import seal_context
from taskstate.context.capture_plan import CaptureRequest
from taskstate.doctor import examine, task_files
from taskstate.permanent import find, readers
from taskstate.roles import role_changes
from taskstate.roles.role_rules import RoleChange
from taskstate.views import status
from tests.support.git_place import GitPlace
from tests.support.place import TASK

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.workspace.workspace import Loaded

pytestmark = pytest.mark.slow  # it starts processes of git

LOOK = "`taskstate snapshot verify 101 --role implementer --dry-run`"
BACK = "`taskstate snapshot verify 101 --role implementer --restore a.txt` puts back what was left"
DRIFT = f"the tree is not what implementer left: 1 file, a.txt ({LOOK}); {BACK}"


@pytest.fixture
def place(tmp_path: Path) -> GitPlace:
    """Return a repository in which the implementer is done, and has left a snapshot."""
    created = GitPlace(tmp_path / "repository")
    created.add("Began.")
    for setting in ("in_progress", "done"):
        if setting == "done":
            created.write("a.txt", "changed\n")
            created.take()
        role_changes.set_role(created.workspace, TASK, "implementer", RoleChange(status=setting), created.request())
    return created


def loaded(place: GitPlace) -> Loaded:
    """Return task 101 as it stands on disk."""
    return place.workspace.load(place.path)


def lines(place: GitPlace) -> list[tuple[str, str]]:
    """Return what to look at first."""
    return [(each.label, each.text) for each in attention(place.workspace, loaded(place))]


def test_a_tree_as_it_was_left_is_not_told(place: GitPlace) -> None:
    """Nothing is said of a tree with the content of the last snapshot, whether it is committed or not."""
    assert lines(place) == []
    place.commit("as it was left")
    assert lines(place) == []


def test_what_is_left_out_is_not_looked_for(place: GitPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    """To look for drift takes git, and for the shared context a look at all tasks: too much for a line nobody sees."""
    place.write("a.txt", "changed by hand\n")
    monkeypatch.setattr(parts, "_drift", None)
    with pytest.raises(TypeError):
        lines(place)
    assert attention(place.workspace, loaded(place), without=(DRIFTED,)) == ()


def test_the_permanent_task_is_looked_for_once(place: GitPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many tasks are at work, `doctor` and `status` look for the permanent one once."""
    for task_id in ("102", "103"):
        place.new(task_id)
        role_changes.set_role(
            place.workspace, task_id, "implementer", RoleChange(status="in_progress"), place.request()
        )
    tasks = [place.workspace.load(path) for path in place.workspace.state_files()]
    look = Mock(wraps=find.find)
    monkeypatch.setattr(readers, "find", look)
    standing = readers.standings(place.workspace)
    for each in tasks:
        status.status_shape(place.workspace, each, standing=standing)
    assert look.call_count == 1
    assert list(task_files.check_files(place.workspace)) == []
    assert look.call_count == 2


def test_drift_is_told_before_anybody_verifies(place: GitPlace) -> None:
    """A change after the last snapshot is named, and nothing is counted."""
    place.write("a.txt", "changed by hand\n")
    assert lines(place) == [("drift", DRIFT)]
    assert place.budget() == 0
    assert f"## Look first\n\n- drift: {DRIFT}\n" in brief.brief(place.workspace, loaded(place)).text
    assert f"  drift: {DRIFT}\n" in status.status_text(place.workspace, loaded(place))
    found = [each for each in examine.examine(place.workspace) if each.check == "attention"]
    assert [(each.message, each.note) for each in found] == [(f"drift: {DRIFT}", True)]


def test_a_role_at_work_is_no_drift(place: GitPlace) -> None:
    """What the next role changes while it works is not told as drift of the role before it."""
    role_changes.set_role(place.workspace, TASK, "reviewer", RoleChange(status="in_progress"), place.request())
    place.write("a.txt", "fixed\n")
    assert lines(place) == []


def test_findings_are_told(place: GitPlace) -> None:
    """Open findings are counted, and stand first in a brief."""
    role_changes.block(place.workspace, TASK, "reviewer", "no test of expiry", place.request())
    assert lines(place) == [("findings", "1 open finding (`taskstate role show 101`)")]
    text = brief.brief(place.workspace, loaded(place)).text
    told = "- reviewer: 1. no test of expiry\n- `finish` answers each: `--answer N=T`"
    assert text[text.index("## ") :].startswith(f"## Open findings\n\n{told}\n\n## Next step")


def test_a_stale_context_is_told(place: GitPlace) -> None:
    """A cited section, a task file and a section 1 that changed since the sealing are named."""
    place.write("x.md", "# X\n\n## Small\n\nBe short.\n")
    place.write("t.task.yaml", "standards: [x.md#small]\n")
    seal_context.init(place.workspace, TASK, CaptureRequest(task_file="t.task.yaml"), place.request())
    role_changes.reopen(place.workspace, TASK, "implementer", "one more thing", place.request())
    place.take()
    assert lines(place) == []
    place.write("x.md", "# X\n\n## Small\n\nBe shorter.\n")
    place.write("t.task.yaml", "standards: [x.md#small]\narea: web\n")
    place.text = place.text.replace("Issue tokens.", "Issue keys.")
    stale = dict(lines(place))["stale"]
    assert stale == (
        "section 1, x.md#small, t.task.yaml changed since the context was taken (`taskstate context check 101`)"
    )


def test_nothing_is_told_of_a_task_that_is_complete(place: GitPlace) -> None:
    """The tree goes on after a task is complete."""
    place.write("a.txt", "later\n")
    place.text = place.text.replace("status: in_progress", "status: complete", 1)
    assert lines(place) == []


def test_without_git_nothing_is_told_of_the_tree(place: GitPlace) -> None:
    """Where the tree cannot be compared, that is for the commands that need it."""
    place.write("a.txt", "changed by hand\n")
    (place.root / ".git").rename(place.root / "gone")
    assert lines(place) == []
