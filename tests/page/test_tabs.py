"""Several tabs, and what each keeps: one stream for all of them, a text in its own form, and what is said above."""

from __future__ import annotations

import asyncio
import re
import shutil
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from taskstate.page import events
from taskstate.page.reading import Reading
from taskstate.page.reading import Site as Shown
from tests.page.conftest import WHOLE, serving, visiting
from tests.page.test_live import run_apart

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

    from tests.page.conftest import Site
    from tests.page.scene import Scene

KEYS, ELSEWHERE = "src/auth/keys.py", "src/mail/queue.py"


@pytest.fixture
def shop(scene: Scene, tmp_path: Path) -> Iterator[Site]:
    """Return a site of the test's own."""
    with serving(shutil.copytree(scene.root, tmp_path / "shop")) as site:
        yield site


@pytest.mark.parametrize("undone", [False, True], ids=["changed", "changed and put back"])
def test_what_changes_without_a_file_of_ours_is_told(scene: Scene, tmp_path: Path, *, undone: bool) -> None:
    """An edit of the working tree is told, also where it is as at the last look, and a page was made in between."""
    root = shutil.copytree(scene.root, tmp_path / "shop")
    path = root / KEYS
    text = path.read_text(encoding="utf-8")

    async def main() -> bool:
        changes = events.Changes(Shown(root), look=0.3)
        stream, count = changes.stream(), 0
        async for each in stream:
            if b"data: \n" in each:  # it is live: the page is read
                await asyncio.to_thread(lambda: changes.has_read(Reading(changes.site)))
                path.write_text(f"{text}# more\n", encoding="utf-8")
                if undone:
                    await asyncio.to_thread(lambda: changes.has_read(Reading(changes.site)))
                    path.write_text(text, encoding="utf-8")
            elif b"event: changed" in each:
                count += 1
                break
        changes.end()
        return count == 1

    assert run_apart(main())


@WHOLE
@pytest.mark.slow
def test_one_stream_serves_all_tabs_of_a_browser(chromium: Browser, shop: Site) -> None:
    """Eight visible tabs load and are live, with one connection; when the one that hears goes, another takes over."""
    with visiting(chromium, shop) as visitor:
        tabs = [visitor.tab, *(visitor.open() for _ in range(7))]
        for tab in tabs:
            tab.goto("/tasks/26")
            expect(tab.locator(".live")).to_have_text("live")
        shop.run("criterion", "check", "26", "1")
        for tab in tabs:
            expect(tab.locator("#criterion-1")).to_have_text("met")
        tabs[0].close()
        shop.run("criterion", "uncheck", "26", "1")
        for tab in tabs[1:]:
            expect(tab.locator("#criterion-1")).to_have_text("open")
        tabs[3].locator("#criterion-2").click()
        for tab in tabs[1:]:
            expect(tab.locator("#criterion-2")).to_have_text("met")


@pytest.mark.slow
def test_a_text_never_gets_into_another_form(chromium: Browser, shop: Site) -> None:
    """When what somebody writes about is gone, the text is told above; no other card has it, or its button."""
    with visiting(chromium, shop) as visitor:
        tab = visitor.tab
        expect(tab.locator(".live")).to_have_text("live")
        tab.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        cards = tab.locator("li.need")
        count = cards.count()
        tab.locator("#finding-1-21").fill("not in this release")
        tab.locator("#drift-20").fill("a hot fix")
        shop.run("role", "unblock", "21", "implementer", "--finding", "1")
        expect(tab.locator("#kept")).to_have_text(
            "Finding 1 of 21 is not here any more. What you had typed: not in this release"
        )
        expect(cards).to_have_count(count - 1)
        expect(tab.get_by_role("button", name="Withdraw")).to_have_count(0)
        expect(tab.locator("#drift-20")).to_have_value("a hot fix")
        assert (
            tab.locator("#drift-20").evaluate("field => field.closest('li').querySelector('.id').textContent") == "20"
        )


@pytest.mark.slow
@pytest.mark.parametrize("script", [True, False], ids=["with script", "without script"])
def test_what_became_of_a_form_is_seen_where_one_is(chromium: Browser, shop: Site, *, script: bool) -> None:
    """From the overview one stays there: a refusal at its card and a success above have the focus and are in view."""
    with visiting(chromium, shop, script=script) as visitor:
        tab = visitor.tab
        if script:
            expect(tab.locator(".live")).to_have_text("live")
        tab.locator("li.need", has=tab.locator("#drift-20")).locator("summary").first.click()
        tab.locator("#drift-20").fill("a hot fix")
        path = shop.root / ELSEWHERE
        path.write_text(f"{path.read_text(encoding='utf-8')}# once more\n", encoding="utf-8")
        tab.get_by_role("button", name="Accept as it is").click()
        refused = tab.locator(".refused")
        expect(refused).to_be_focused()
        expect(refused).to_be_in_viewport()
        expect(tab.locator("#drift-20")).to_have_value("a hot fix")
        if script:
            shop.run("criterion", "check", "26", "1")
            expect(tab.locator(".live")).to_have_text("26 changed")
            expect(refused).to_be_visible()
            assert tab.url == f"{shop.url}/"
        tab.get_by_role("button", name="Accept as it is").click()
        done = tab.locator(".above")
        expect(done).to_have_text("The drift of 20 is accepted.")
        expect(done).to_be_focused()
        expect(done).to_be_in_viewport()
        expect(tab.locator("#drift-20")).to_have_count(0)
        expect(tab.locator("#kept")).to_be_empty()
        visitor.errors[:] = [each for each in visitor.errors if "409" not in each]


@WHOLE
@pytest.mark.slow
def test_a_page_says_that_the_server_was_started_again(chromium: Browser, shop: Site) -> None:
    """With another token no tab is live: each says what to do, and goes on once somebody has done it."""
    with visiting(chromium, shop) as visitor:
        tabs = [visitor.tab, visitor.open()]
        for tab in tabs:
            tab.goto("/tasks/26")
            expect(tab.locator(".live")).to_have_text("live")
        shop.end()
        for tab in tabs:
            expect(tab.locator(".live")).to_have_text(re.compile("not live since"))
        with serving(shop.root, "--port", shop.url.rpartition(":")[2]) as again:
            for tab in tabs:
                expect(tab.locator("#told")).to_contain_text("open the address that it printed")
            visitor.open().goto(f"/?token={again.token}")
            for tab in tabs:
                expect(tab.locator(".live")).to_have_text("live")
                expect(tab.locator("#told")).to_be_hidden()
            tabs[1].locator("#criterion-1").click()
            expect(tabs[0].locator("#criterion-1")).to_have_text("met")
            for tab in visitor.context.pages:
                tab.close()
        visitor.errors.clear()
