"""The overview: what needs a person first, then what is at work, blocked and complete, and how much there is."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from taskstate.page import svg
from tests.page.looking import look, main_of, said, section, site_of, words
from tests.support.place import Place

if TYPE_CHECKING:
    from tests.page.scene import Scene


@pytest.fixture(scope="module")
def overview(scene: Scene) -> str:
    """Return the overview of what a lead sees."""
    return look(scene.root)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with a task, without git."""
    return Place(tmp_path / "repository")


def test_what_needs_a_person_comes_first(scene: Scene, overview: str) -> None:
    """Title, heading and navigation say how many there are; the list has as many, in the order of `status`."""
    needs = said(scene.root, "status")["needs"]
    assert f"<title>{len(needs)} need you · shop</title>" in overview
    assert f"<h1>{len(needs)} things need you</h1>" in overview
    assert f"<b>{len(needs)}<span" in overview
    found = re.findall(r'(?s)<li class="need">(.*?)\n</li>', overview)
    assert [words(each.partition("</span>")[0]).lower() for each in found] == [each["kind"] for each in needs]
    assert overview.index('class="need"') < overview.index('id="h-work"')
    for item, need in zip(found, needs, strict=True):
        shown = words(item)
        assert need["text"] in shown
        assert all(" ".join(command.split()) in shown for command in need["actions"])


def test_a_need_leads_to_its_place(overview: str) -> None:
    """Its link goes to the part of the task's page where it is seen to."""
    assert re.search(r'href="/tasks/21#findings"><span class="id">21</span>Login with a passkey<', overview)
    assert 'href="/tasks/27#timeline"' in overview


def test_a_finding_is_withdrawn_from_here(scene: Scene, overview: str) -> None:
    """Its form sends the number of the finding and the state of the file; who may only read has none."""
    assert re.search(
        r'<form class="note" method="post" action="/tasks/21/findings/1/withdraw">.*name="expect"', overview
    )
    alone = look(site_of(scene.root, is_read_only=True))
    assert 'method="post"' not in alone
    assert "taskstate role unblock 21" in words(alone)


def test_what_is_at_work(overview: str) -> None:
    """Each task has its agent, its features, its size and what comes next; where nobody works, who is waited for."""
    rows = words(section(overview, "work"))
    assert "22 A mail queue that survives a restart dora 0 of 2" in rows
    assert "Next: a-22: does what it says" in rows
    rows = words(section(overview, "between"))
    assert "21 Login with a passkey implementer" in rows
    assert "waits for the implementer since" in rows
    assert "Login with a passkey" not in words(section(overview, "work"))


def test_what_is_blocked(overview: str) -> None:
    """It says for whom a task waits or that a person blocked it, why, and how many wait for it."""
    rows = words(section(overview, "stuck"))
    assert "27 Old invoices as PDF/A by hand" in rows
    assert "nobody waits" in rows
    assert "The archive of the accountants is closed until Monday" in rows


def test_what_was_completed_this_week(overview: str) -> None:
    """Those of the last seven days are named with their criteria; all others are behind a link."""
    rows = words(section(overview, "done"))
    assert "18 JWT service 2 of 2 criteria" in rows
    assert 'href="/board?status=complete&amp;done=all">All 2<' in section(overview, "done")


def test_what_is_counted_stands_behind(scene: Scene, overview: str) -> None:
    """What only counts is one line for each kind, with the tasks in it; what is too large has its size."""
    counted = said(scene.root, "status")["counted"]
    lines = words(section(overview, "more"))
    assert not counted["behind"] or f"{len(counted['behind'])} agent" in lines


def test_what_is_unknown_is_said(scene: Scene, tmp_path: Path) -> None:
    """What cannot be looked at is named in words, and not left out."""
    root = tmp_path / "shop"
    shutil.copytree(scene.root, root)
    shutil.rmtree(root / ".git")
    assert "Unknown: drift" in words(section(look(root), "more"))


def test_all_tasks_are_one_bar(overview: str) -> None:
    """Its parts fill it, each is a link to the board, and its label says the numbers."""
    part = section(overview, "all")
    widths = [float(each) for each in re.findall(r' width="([\d.]+)" height="4"', part)]
    assert sum(widths) == pytest.approx(100, abs=0.1)
    assert re.search(r'role="img" aria-label="2 complete, \d in progress, 1 blocked, \d created"', part)
    assert 'href="/board?status=blocked"' in part


def test_a_part_is_never_too_thin_to_be_seen() -> None:
    """One of ten thousand has a width, and what is not there has no part."""
    parts = svg.bar(
        [svg.Part(9_999, "complete", "good"), svg.Part(1, "blocked", "bad"), svg.Part(0, "dropped", "soft")]
    )
    assert [each.name for each in parts] == ["complete", "blocked"]
    assert parts[1].width > 0.9
    assert svg.bar([]) == ()


def test_what_grows_large_has_its_size(place: Place) -> None:
    """A file near its limit is shown with both, and the command that says what is large in it."""
    place.text = place.text.replace("Issue tokens.", f"Issue tokens. {'A word of it. ' * 5_200}")
    part = words(section(look(place.root), "size"))
    assert re.search(r"101 JWT Service \d\d of 75 KB", part)
    assert "taskstate lint" in part


def test_an_empty_repository_says_how_to_begin(place: Place) -> None:
    """Without tasks there are three commands, and no lists."""
    place.path.unlink()
    place.forget()
    shown = main_of(look(place.root))
    assert "There are no tasks yet" in words(shown)
    assert re.findall(r"<pre[^>]*>taskstate (\w+)", shown) == ["new", "start", "finish"]
    assert "<ol" not in shown
    assert "<svg" not in shown


def test_the_permanent_task_alone_is_none_to_work_on(place: Place) -> None:
    """With nothing but what all share, the three commands are there as well."""
    place.text = place.text.replace("\nstatus:", "\nkind: permanent\nstatus:", 1)
    assert "There are no tasks yet" in words(main_of(look(place.root)))


def test_nothing_needs_you(place: Place) -> None:
    """Then it says so, with what was done last."""
    place.add("Wrote the parser.")
    shown = main_of(look(place.root))
    assert "<h1>Nothing needs you.</h1>" in shown
    assert "The last write: 101 JWT Service" in words(shown)
    assert "<title>Nothing needs you" in look(place.root)


def test_a_file_that_cannot_be_read_needs_a_person(place: Place) -> None:
    """It is told with its line, and leads to its task."""
    place.text = place.text.replace("status: created", "status: [created", 1)
    shown = words(main_of(look(place.root)))
    assert "1 thing needs you" in shown
    assert "Damaged" in shown
    assert "line" in shown


def test_a_text_of_a_file_is_text(place: Place) -> None:
    """Neither a title nor what a session says is markup, and what looks like a credential is masked."""
    token = "ghp_" + "Zk3rT9wQx2LmV7bNc5YdH8sJf4GpA6uE1oRi"
    place.add("Tried it.")
    place.text = place.text.replace("JWT Service", f"<img src=x onerror=alert(1)> {token}", 1)
    shown = look(place.root) + look(place.root, "/board")
    assert "<img" not in shown
    assert token not in shown


def test_a_credential_in_a_proof_of_any_shape_is_masked(place: Place) -> None:
    """A proof may hold lists and maps, since agents write the file; what a list holds is one text."""
    token, body = "ghp_" + "R7kQ2mZx9LwVbT4nYc8HsJd3FgPa6UeW1oXi", ["MIIEpAIBAAKCAQEA" + "x7Q" * 16] * 9
    key = ["-----BEGIN RSA PRIVATE KEY-----", *body, "-----END RSA PRIVATE KEY-----"]
    proof = {"text": [token], "key": key, "command": ["curl", token], "tail": {"x": [{"y": token}]}}
    place.text = place.text.replace('"passes": false', f'"passes": true, "evidence": {json.dumps(proof)}', 1)
    shown = look(place.root, "/tasks/{id}", id="101")
    assert "curl" in words(shown)
    assert token not in shown
    assert body[0] not in section(shown, "features")


@pytest.mark.parametrize("how", ["a symbolic link", "a folder", "a FIFO"])
def test_an_archive_that_is_no_file_is_damage_of_its_task(place: Place, how: str) -> None:
    """The page lives on, and tells it of that task."""
    place.add("First.")
    place.add("Second.")
    place.archive(keep=1)
    place.archive_path.rename(place.root / "kept.md")
    makes = {"a symbolic link": lambda path: path.symlink_to("kept.md"), "a folder": Path.mkdir, "a FIFO": os.mkfifo}
    makes[how](place.archive_path)
    assert f"task-101-archive.md is {how}" in words(main_of(look(place.root)))
    assert place.told()
    assert "JWT Service" in look(place.root, "/board")
