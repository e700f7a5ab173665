"""The page in a browser: what it shows, that it lives, what it lets nobody do, and that nothing typed is lost."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.page.conftest import WHOLE, serving, visiting
from tests.page.looking import said

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from tests.page.conftest import Site, Visitor
    from tests.page.scene import Scene

pytestmark = pytest.mark.slow
# A browser without a screen hides no tab by itself.
HIDDEN = """
let isHidden = %s;
Object.defineProperty(Document.prototype, "hidden", { get: () => isHidden });
window.hide = (is) => { isHidden = is; document.dispatchEvent(new Event("visibilitychange")); };
"""
BEYOND = "document.documentElement.scrollWidth - innerWidth"


def test_a_walk_through_the_views(chromium: Browser, site: Site) -> None:
    """From the overview to a session in an archive, to a task, and on the board to what is complete for long."""
    needs = len(said(site.root, "status")["needs"])
    with visiting(chromium, site) as visitor:
        tab = visitor.tab
        _came_in(visitor, site)
        assert needs >= 5
        expect(tab.get_by_role("heading", level=1)).to_have_text(f"{needs} things need you")
        expect(tab.get_by_role("region", name="What needs you").locator("li.need")).to_have_count(needs)
        expect(tab).to_have_title(re.compile(f"^{needs} need you"))
        tab.get_by_role("search").get_by_role("searchbox").fill("wintergreen-0")
        tab.keyboard.press("Enter")
        expect(tab).to_have_url(re.compile(r"/search\?q=wintergreen-0$"))
        tab.get_by_role("link", name=re.compile("^archive ")).first.click()
        expect(tab).to_have_url(re.compile(r"/tasks/23(#|$)"))
        expect(tab.get_by_text("wintergreen-0").first).to_be_visible()
        assert tab.evaluate("location.hash === '' || !!document.getElementById(location.hash.slice(1))")
        tab.goto("/tasks/20")
        expect(tab.get_by_role("list", name="Roles").get_by_role("listitem")).to_have_count(3)
        criteria = tab.get_by_role("region", name="Acceptance criteria").get_by_role("button")
        expect(criteria).to_have_count(2)
        assert [each.get_attribute("aria-pressed") for each in criteria.all()] == ["true", "false"]
        tab.get_by_role("link", name="Board").first.click()
        expect(tab.get_by_role("link", name="JWT service")).to_be_visible()
        expect(tab.get_by_role("link", name="One error page")).to_have_count(0)
        tab.get_by_role("link", name="all 2").click()
        expect(tab.get_by_role("link", name="One error page")).to_be_visible()
        tab.goto("/board?status=blocked&area=billing")
        tab.reload()
        expect(tab.get_by_role("checkbox", checked=True)).to_have_count(1)
        tab.get_by_role("link", name="Old invoices").click()
        tab.go_back()
        expect(tab).to_have_url(re.compile(r"/board\?status=blocked&area=billing$"))
        expect(tab.get_by_role("link", name="Old invoices")).to_be_visible()


def _came_in(visitor: Visitor, site: Site) -> None:
    """Check that the address with the token led to one without, by a cookie of this site alone that no script reads."""
    assert visitor.tab.url == f"{site.url}/"
    (cookie,) = visitor.context.cookies()
    name = f"taskstate-{site.url.rpartition(':')[2]}"
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["name"]) == (True, "Strict", name)
    assert visitor.tab.evaluate("document.cookie") == ""
    assert [each.status for each in visitor.answers[:2]] == [303, 200]


def test_a_change_in_a_terminal_is_shown_and_nothing_else_moves(chromium: Browser, shop: Site) -> None:
    """What was typed, opened, selected and scrolled, and where the focus was, stays as it is, to be sent at last."""
    with visiting(chromium, shop) as visitor:
        tab = visitor.tab
        tab.goto("/tasks/20")
        live, note = tab.get_by_role("status"), tab.locator("#drift-20")
        expect(live).to_have_text("live")
        expect(tab.locator(".diff", has_text="# quick fix").first).to_be_visible()
        expect(tab.get_by_role("textbox", name=re.compile("Why it is accepted")).first).to_have_id("drift-20")
        note.fill("A hot fix")
        note.evaluate("field => field.setSelectionRange(3, 7)")
        details = tab.locator("details:has(> summary:text-is('Read it')), #timeline details:has(summary)")
        opened = (details.first, tab.locator("#timeline details").first)
        for each in opened:
            each.evaluate("details => { details.open = false; }")
            each.locator("summary").first.click()
        note.focus()
        tab.evaluate("scrollTo(0, 250)")
        top = note.evaluate("field => Math.round(field.getBoundingClientRect().top)")
        shop.run("criterion", "check", "20", "2")
        expect(tab.locator("#criterion-2")).to_have_attribute("aria-pressed", "true")
        expect(live).to_have_text("20 changed")
        expect(note).to_have_value("A hot fix")
        expect(note).to_be_focused()
        assert note.evaluate("field => [field.selectionStart, field.selectionEnd]") == [3, 7]
        assert all(each.evaluate("details => details.open") for each in opened)
        assert abs(note.evaluate("field => Math.round(field.getBoundingClientRect().top)") - top) <= 1
        tab.get_by_role("link", name="Board").first.focus()
        tab.evaluate("getSelection().selectAllChildren(document.querySelector('h1'))")
        tab.evaluate("scrollTo(0, 240)")
        shop.run("criterion", "uncheck", "20", "2")
        expect(tab.get_by_role("button", name="Criterion 2 is open")).to_have_count(1)
        expect(note).to_have_value("A hot fix")
        assert all(each.evaluate("details => details.open") for each in opened)
        assert tab.evaluate("document.activeElement.textContent") == "Board"
        assert tab.evaluate("getSelection().toString()") == tab.inner_text("h1")
        assert tab.evaluate("scrollY") == 240
        tab.get_by_role("button", name="Accept as it is").first.click()
        expect(tab.get_by_role("button", name="Accept as it is")).to_have_count(0)
    _was_written(shop, "drift-accepted", "20", "A hot fix")


def _was_written(site: Site, event: str, task: str, note: str) -> None:
    """Check that the newest event of a kind is that of the person who serves, with what was typed."""
    told = next(each for each in site.json("log", task)["entries"] if each["event"] == event)
    assert (told["task"], told["by"]) == (task, "maria")
    assert told["text"].endswith(f"{note} (via page)")


def test_a_form_is_answered_on_the_page(chromium: Browser, shop: Site) -> None:
    """With the script the page stays where it is; a refusal has the focus, and what was typed stays to be mended."""
    with visiting(chromium, shop) as visitor:
        tab = visitor.tab
        tab.goto("/tasks/21")
        expect(tab.get_by_role("status")).to_have_text("live")
        note = tab.get_by_role("region", name="Findings").get_by_role("textbox")
        note.fill("Asked & answered: <b>")
        tab.get_by_role("button", name="Criterion 2 is open").click()
        button = tab.get_by_role("button", name="Criterion 2 is met")
        expect(button).to_have_attribute("aria-pressed", "true")
        expect(button).to_have_text("met")
        expect(button).to_be_focused()
        expect(note).to_have_value("Asked & answered: <b>")
        expect(tab.locator(".live")).to_have_text("21 changed")  # from now on nothing reads the form anew
        tab.evaluate("document.querySelector('#finding-1-21').form.expect.value = '1-00000000'")
        tab.get_by_role("button", name="Withdraw").click()
        refused = tab.locator(".refused")
        expect(refused).to_be_focused()
        expect(refused).to_contain_text("Changed meanwhile")
        expect(note).to_have_value("Asked & answered: <b>")
        shop.run("criterion", "uncheck", "21", "2")
        expect(tab.locator("#criterion-2")).to_have_text("open")
        expect(refused).to_be_visible()  # until the next try
        tab.get_by_role("button", name="Withdraw").click()
        expect(tab.get_by_role("button", name="Withdraw")).to_have_count(0)
        expect(note).to_have_count(0)
        expect(refused).to_have_count(0)
        assert tab.url == f"{shop.url}/tasks/21"
        visitor.errors[:] = [each for each in visitor.errors if "409" not in each]
    _was_written(shop, "finding-cleared", "21", "Asked & answered: <b>")


def test_without_script_forms_are_answered_as_with_it(chromium: Browser, own_site: Site) -> None:
    """Each is answered with the task's page, at the place; a refusal has the focus there, too."""
    with visiting(chromium, own_site, script=False) as visitor:
        tab = visitor.tab
        tab.goto("/tasks/26")
        tab.get_by_role("button", name="Criterion 1 is open").click()
        expect(tab.get_by_role("button", name="Criterion 1 is met")).to_have_attribute("aria-pressed", "true")
        assert re.fullmatch(r".*/tasks/26(\?.*)?#criterion-1", tab.url)
        own_site.run("criterion", "check", "26", "2")
        tab.locator("#criterion-1").click()
        expect(tab.locator(".refused")).to_be_focused()
        expect(tab.locator("#criterion-1")).to_have_text("met")
        tab.goto("/tasks/21")
        tab.get_by_role("region", name="Findings").get_by_role("textbox").fill("Asked & answered: <b>")
        tab.get_by_role("button", name="Withdraw").click()
        expect(tab.get_by_role("button", name="Withdraw")).to_have_count(0)
        tab.goto("/tasks/20")
        tab.get_by_role("textbox", name=re.compile("Why it is accepted")).first.fill("A hot fix")
        tab.get_by_role("button", name="Accept as it is").first.click()
        expect(tab.get_by_role("button", name="Accept as it is")).to_have_count(0)
        visitor.errors[:] = [each for each in visitor.errors if "409" not in each]
    _was_written(own_site, "finding-cleared", "21", "Asked & answered: <b>")
    _was_written(own_site, "drift-accepted", "20", "A hot fix")
    assert "- [x] Pages for help works" in own_site.state("26").read_text(encoding="utf-8")


def test_what_breaks_on_disk_is_told_at_once(chromium: Browser, shop: Site) -> None:
    """A file that does not parse any more needs somebody, with the line."""
    path = shop.state("27")
    with visiting(chromium, shop) as visitor:
        tab = visitor.tab
        expect(tab.get_by_role("status")).to_have_text("live")
        broken = path.read_text(encoding="utf-8").replace('"features": [', '"features": [,', 1)
        path.write_text(broken, encoding="utf-8")
        told = tab.get_by_role("region", name="What needs you").locator("li.need", has_text="Damaged")
        expect(told).to_contain_text("27")
        expect(told).to_contain_text(re.compile(r"line \d+: a value is expected"))


@WHOLE
def test_ten_tabs_all_load_and_are_live_when_they_are_shown(chromium: Browser, shop: Site) -> None:
    """A browser has six connections to a host: a tab that nobody sees holds none, and one that is shown reads again."""
    with visiting(chromium, shop) as visitor:
        tabs = [visitor.open() for _ in range(10)]
        for number, tab in enumerate(tabs):
            was_seen = number % 4 == 0  # three at first are seen, and then hidden
            tab.add_init_script(HIDDEN % str(not was_seen).lower())
            tab.goto("/tasks/25")
            expect(tab.get_by_role("heading", level=1)).to_have_text("Import of old customers")
            if was_seen:
                expect(tab.get_by_role("status")).to_have_text("live")
                tab.evaluate("hide(true)")
        shop.run("criterion", "check", "25", "1")
        for tab in tabs:
            expect(tab.get_by_role("button", name="Criterion 1 is open")).to_be_visible()
            tab.evaluate("hide(false)")
            expect(tab.get_by_role("button", name="Criterion 1 is met")).to_be_visible()
            tab.evaluate("hide(true)")


def test_what_goes_away_leaves_its_page_as_it_was(chromium: Browser, own_site: Site) -> None:
    """A task that is dropped says so; of a file or a server that is gone the content stays, with what was typed."""
    with visiting(chromium, own_site) as visitor:
        tab = visitor.tab
        tab.goto("/tasks/21")
        live, told, note = tab.get_by_role("status"), tab.locator("#told"), tab.locator("#finding-1-21")
        expect(live).to_have_text("live")
        note.fill("still here")
        path = own_site.state("21")
        moved = path.rename(own_site.root / "moved.md")
        expect(told).to_contain_text("gone")
        expect(tab.get_by_role("alert")).to_contain_text("gone")
        expect(tab.get_by_role("heading", level=1)).to_have_text("Login with a passkey")
        for name in ("Withdraw", "Criterion 1 is open"):
            expect(tab.get_by_role("button", name=name)).to_be_disabled()
        moved.rename(path)
        expect(told).to_be_hidden()
        expect(tab.get_by_role("button", name="Withdraw")).to_be_enabled()
        own_site.run("drop", "21", "--note", "Nobody wants it")
        expect(tab.locator("dl.facts")).to_contain_text("dropped")
        own_site.end()
        expect(live).to_have_text(re.compile(r"not live since \d\d:\d\d, trying again"))
        expect(note).to_have_value("still here")
        visitor.errors.clear()


def test_hostile_text_stays_text(chromium: Browser, hostile: Scene, tmp_path: Path) -> None:
    """Whatever stands in a field of a file, the browser runs nothing and asks nobody: on each page, and in a report.

    Long words without a blank make no page scroll sideways where it is narrow.
    """
    with serving(hostile.root) as site, visiting(chromium, site, width=320) as visitor:
        tab = visitor.tab
        for path in pages_of(site):
            answer = tab.goto(path)
            assert answer
            assert answer.status == 200, path
            assert tab.evaluate(BEYOND) <= 0, path
            tab.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
            assert tab.locator("img, iframe, object, embed, [onerror], [onload], [onmouseover]").count() == 0
            hrefs = tab.eval_on_selector_all("[href]", "all => all.map((each) => each.getAttribute('href'))")
            assert [each for each in hrefs if not re.match(r"/(?!/)|#|https?://", each)] == [], path
        file = tmp_path / "report.html"
        site.run("report", "--output", str(file), status=1)
    read_offline(chromium, file).context.close()


def test_a_report_works_from_disk_without_a_network(chromium: Browser, site: Site, tmp_path: Path) -> None:
    """It asks for nothing but itself, its filter shows what has all the words, and without script all is there."""
    file = tmp_path / "report.html"
    site.run("report", "--output", str(file))
    tab = read_offline(chromium, file)
    tab.get_by_role("searchbox").fill("auth P1 rotate")
    expect(tab.get_by_role("status")).to_have_text("1 of 10 tasks")
    expect(tab.get_by_role("article", name="Login with a passkey")).to_have_count(0)
    tab.get_by_role("searchbox").fill("")
    expect(tab.get_by_role("article")).to_have_count(11)
    tab.get_by_role("link", name="Board").first.click()
    assert tab.url.endswith("#board")
    tab.context.close()


def read_offline(browser: Browser, file: Path) -> Page:
    """Return a tab with a report, for which the browser asked nobody."""
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 900})
    tab, met = context.new_page(), list[str]()
    tab.on("console", lambda message: met.append(f"console: {message.text}"))
    tab.on("pageerror", lambda error: met.append(f"script: {error}"))
    tab.on("dialog", lambda dialog: met.append(f"dialog: {dialog.message}"))
    tab.on("request", lambda asked: met.append(asked.url))
    tab.goto(file.as_uri())
    assert met == [file.as_uri()]
    return tab


def pages_of(site: Site) -> list[str]:
    """Return the address of each page of a site."""
    ids = [quote(each["id"], safe="") for each in said(site.root, "list")]
    more = ("/changes?against=now", "/changes?role=implementer", "/brief")
    beside = [f"{each}{page}" for each in ids[:2] for page in more]
    columns = "&".join(f"status={each}" for each in ("ready", "waiting", "in_progress", "blocked", "dropped"))
    views = ("/", f"/board?{columns}", "/lint", "/search?q=evil", "/rules", "/rules/TS005")
    return [*views, *(f"/tasks/{each}" for each in (*ids, *beside))]
