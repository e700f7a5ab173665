"""The three writes of the page: through the operations, bound to what was shown, and a refusal at its form."""

from __future__ import annotations

import re
import shutil
from html import unescape
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest

from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import blocks_of
from taskstate.page import meanwhile
from taskstate.syntax.document import parse
from tests.page.conftest import serving
from tests.page.test_serve import FORM, ask

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tests.page.conftest import Site
    from tests.page.scene import Scene
    from tests.page.test_serve import Answer

ELSEWHERE = "src/mail/queue.py"


@pytest.fixture(scope="module")
def shop(scene: Scene, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Return a site of this module's own; each test writes to a task of its own."""
    with serving(shutil.copytree(scene.root, tmp_path_factory.mktemp("written") / "shop")) as site:
        yield site


def state(site: Site, task: str) -> str:
    """Return the text of a task's file."""
    return _path(site.root, task).read_text(encoding="utf-8")


def _path(root: Path, task: str) -> Path:
    return root / ".taskstate" / "tasks" / f"task-{task}-state.md"


def form(page: str, action: str) -> dict[str, str]:
    """Return the fields of the form that is sent to an address, by name, as a page has them."""
    (found,) = re.findall(rf'<form [^>]*action="{re.escape(action)}[?"].*?</form>', page, re.DOTALL)
    fields = re.findall(r'<input [^>]*?name="([^"]*)"[^>]*?value="([^"]*)"', found)
    return {name: unescape(value) for name, value in fields}


def send(site: Site, action: str, fields: Mapping[str, str]) -> Answer:
    """Send a form as a browser without script does."""
    return ask(site, action, "POST", urlencode(fields), Content_Type=FORM, Origin=site.url)


def last_event(site: Site, task: str) -> Mapping[str, Any]:
    """Return the newest event of a task."""
    entry: Mapping[str, Any] = blocks_of(parse(state(site, task))).audit.events[-1].entry  # type: ignore[assignment]
    return entry


def revision(site: Site, task: str) -> int:
    """Return the revision of a task's file."""
    return int(re.search(r"^revision: (\d+)$", state(site, task), re.MULTILINE)[1])  # type: ignore[index]


def test_a_criterion_is_checked_and_unchecked(shop: Site) -> None:
    """The button sends the other state; the file is written once, by whoever serves."""
    action = "/tasks/26/criteria/2"
    for mark, pressed in (("x", "true"), (" ", "false")):
        before = revision(shop, "26")
        answer = send(shop, action, form(ask(shop, "/tasks/26").text, action))
        assert (answer.status, answer.headers["location"]) == (303, "/tasks/26#criterion-2")
        assert f"- [{mark}] It is documented" in state(shop, "26")
        assert (revision(shop, "26"), "updated_by: maria" in state(shop, "26")) == (before + 1, True)
        assert f'id="criterion-2" aria-pressed="{pressed}"' in ask(shop, "/tasks/26").text
    assert (ask(shop, action).status, ask(shop, action).headers["location"]) == (303, "/tasks/26")


def test_what_changed_meanwhile_is_told_at_the_form(shop: Site) -> None:
    """With the token of an older page nothing is written; the answer shows what changed, and offers it again."""
    action = "/tasks/25/criteria/1"
    shown = form(ask(shop, "/tasks/25").text, action)
    shop.run("criterion", "check", "25", "2")
    before = _path(shop.root, "25").read_bytes()
    answer = send(shop, action, shown)
    assert (answer.status, _path(shop.root, "25").read_bytes()) == (409, before)
    message = re.search(r'<div class="refused.*?</div>', answer.text, re.DOTALL)
    assert message
    assert 'id="criterion-1-refused" data-at="criterion-1" role="alert" tabindex="-1" autofocus' in message[0]
    assert re.search(r"Changed meanwhile</b>: ada wrote at \d\d:\d\d UTC<", message[0])
    assert "<li>criterion 2 is met now</li>" in message[0]
    assert "press the criterion again" in message[0]
    assert not re.search(r"[0-9a-f]{7}|seal|<pre", message[0])  # what tools write says nothing to a person
    assert 'aria-describedby="criterion-1-refused"' in answer.text
    again = form(answer.text, action)
    assert again["expect"] != shown["expect"]
    assert send(shop, action, again).status == 303
    assert "- [x] Import of old customers works" in state(shop, "25")


def test_drift_is_accepted_for_the_tree_that_was_shown(shop: Site) -> None:
    """After another change of the tree nothing is accepted, and the note stays; then it is, by a person on the page."""
    action, note = "/tasks/20/drift/accept", 'A "quick fix" <from> the call'
    shown = form(ask(shop, "/tasks/20").text, action) | {"note": note}
    before = (shop.root / ELSEWHERE).read_text(encoding="utf-8")
    (shop.root / ELSEWHERE).write_text(f"{before}# later\n", encoding="utf-8")
    file = _path(shop.root, "20").read_bytes()
    refused = send(shop, action, shown)
    assert (refused.status, _path(shop.root, "20").read_bytes()) == (409, file)
    message = re.search(r'<div class="refused.*?</div>', refused.text, re.DOTALL)
    assert message
    assert "files were edited after the page showed the difference" in message[0]
    assert "press Accept as it is again" in message[0]
    assert not re.search(r"[0-9a-f]{7}|taskstate", message[0])
    again = form(refused.text, action)
    assert (again["note"], again["tree"] == shown["tree"]) == (note, False)
    accepted = send(shop, action, again)
    assert (accepted.status, accepted.headers["location"]) == (303, "/tasks/20?done=drift&of=20")
    done = ask(shop, accepted.headers["location"]).text
    assert re.search(
        r'<p class="[^"]*above" role="status" tabindex="-1" autofocus>The drift of 20 is accepted.</p>', done
    )
    event = last_event(shop, "20")
    assert (event["event"], event["note"], event["actor"], event["via"]) == ("drift-accepted", note, "maria", "page")
    (shop.root / ELSEWHERE).write_text(before, encoding="utf-8")


def test_a_finding_is_withdrawn_with_a_note(shop: Site) -> None:
    """The event says who, why and from where; without a reason, or a second time, it is refused."""
    action = "/tasks/21/findings/1/withdraw"
    shown = form(ask(shop, "/tasks/21").text, action)
    unsaid = send(shop, action, shown | {"note": " "})
    assert (unsaid.status, "the reason is missing" in unsaid.text) == (422, True)
    secret = "AKIA" + "QYLPMN5HNX3TZ7WA"
    refused = send(shop, action, shown | {"note": f"key {secret}"})
    assert (refused.status, form(refused.text, action)["note"]) == (422, f"key {secret}")
    assert send(shop, action, shown | {"note": "Replay is out of scope"}).status == 303
    event = last_event(shop, "21")
    assert (event["event"], event["note"], event["via"]) == ("finding-cleared", "Replay is out of scope", "page")
    assert (event["finding"], event["role"], event["by"], event["actor"]) == (1, "implementer", "reviewer", "maria")
    gone = send(shop, action, shown | {"note": "Once more"})
    assert (gone.status, "Changed meanwhile" in gone.text) == (409, True)
    assert "finding 1 is gone: " in gone.text
    assert "there is nothing to press any more" in gone.text
    assert "Once more" in gone.text  # though its form is not there any more


def test_a_form_of_the_overview_leads_back_to_it(shop: Site) -> None:
    """Who writes from the overview stays there, with what is done in words, or with the refusal at the form."""
    action, page = "/tasks/22/findings/1/withdraw", f"{shop.url}/"
    shop.run("start", "22", "--role", "reviewer", "--agent", "rita", status=None)
    fields = form(ask(shop, "/tasks/20").text, "/tasks/20/criteria/1")
    refused = ask(shop, action, "POST", urlencode(fields), Content_Type=FORM, Origin=shop.url, Referer=page)
    assert refused.status in {409, 422}
    assert 'data-here="/"' in refused.text
    assert "things need you</h1>" in refused.text
    assert "Finding 3 of 21 is withdrawn." in ask(shop, "/?done=finding-3&of=21").text
    assert "above" not in ask(shop, "/?done=anything&of=21").text.partition("<main")[2].partition("</main>")[0]


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        ("- [ ] a", "- [ ] a\n- [ ] b", ["criterion 2 is new: b"]),
        ("- [ ] a\n- [ ] b", "- [ ] a", ["criterion 2 is gone: b"]),
        ("- [ ] a", "- [x] a", ["criterion 1 is met now"]),
        ("- [ ] a", "- [ ] b", ["criterion 1 reads now: b"]),
    ],
)
def test_what_is_different_is_told_in_sentences(before: str, now: str, told: list[str]) -> None:
    """A criterion that is new, gone, met or worded otherwise has a sentence of its own."""
    old, new = (
        read_state(parse(f"## 1. Static Context\n\n### Acceptance Criteria\n\n{each}\n")) for each in (before, now)
    )
    assert [*meanwhile.sentences(old, new)] == told


@pytest.fixture(scope="module")
def shown(shop: Site) -> dict[str, str]:
    """Return the form of a task that nobody writes to."""
    return form(ask(shop, "/tasks/24").text, "/tasks/24/criteria/1")


@pytest.mark.parametrize(
    "asked",  # where, what differs from the form, and the status and a word of the answer
    [
        ("/tasks/24/criteria/1", {"expect": ""}, 422, "does not say what its page showed"),
        ("/tasks/24/criteria/1", {"expect": "x-0123456789abcdef"}, 422, "is not a revision"),
        ("/tasks/24/criteria/1", {"expect": "1"}, 422, "does not say what its page showed"),
        ("/tasks/24/criteria/1", {"expect": "1-a"}, 422, "does not say what its page showed"),
        ("/tasks/24/criteria/9", {}, 422, "criterion"),
        ("/tasks/24/criteria/0", {}, 404, "is not a number"),
        ("/tasks/24/criteria/1e9", {}, 404, "is not a number"),
        ("/tasks/24/drift/accept", {"note": "why"}, 422, "does not say what its page showed"),
        ("/tasks/24/drift/accept", {"note": "why", "tree": "0123456"}, 409, "edited after the page showed"),
        ("/tasks/24/findings/7/withdraw", {"note": "why"}, 422, "no finding 7"),
        ("/tasks/24/criteria/1", {"worktree": "/etc"}, 404, "no worktree /etc"),
        ("/tasks/999/criteria/1", {}, 404, "no task 999"),
        ("/tasks/%00/criteria/1", {}, 404, ""),
    ],
)
def test_what_no_page_offers_is_refused(
    shop: Site, shown: dict[str, str], asked: tuple[str, dict[str, str], int, str]
) -> None:
    """Forms that somebody has made otherwise get one clear error, and nothing is written."""
    action, fields, status, told = asked
    before = state(shop, "24")
    answer = send(shop, action, shown | fields)
    assert (answer.status, state(shop, "24")) == (status, before)
    assert told in unescape(answer.text)
    assert "Traceback" not in answer.text
