"""The page for everybody: no violation that axe finds, no sideways scrolling, and all of it by keyboard."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

import pytest
from axe_playwright_python.base import AXE_SCRIPT

from tests.page.conftest import WHOLE, visiting

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from tests.page.conftest import Site

pytestmark = pytest.mark.slow
# All four widths in both schemes by `make page-matrix`; the two here are where a layout ends and where most look.
IS_WHOLE = "PAGE_MATRIX" in os.environ
NARROW = 320
WIDTHS = (NARROW, 390, 1280, 2560) if IS_WHOLE else (NARROW, 1280)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SEVERAL = ("1", "18", "20", "21", "27")  # tasks that have all that a report may show
TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
RULES = {"runOnly": {"type": "tag", "values": TAGS}, "resultTypes": ["violations"], "preload": False}
BEYOND = "document.documentElement.scrollWidth - innerWidth"
VIEWS = (
    "/",
    "/board",
    "/tasks/20",
    "/tasks/21",
    "/tasks/20/changes?role=implementer",
    "/tasks/20/brief",
    "/lint",
    "/rules",
    "/rules/TS005",
    "/search?q=keys",
)


def violations(tab: Page) -> list[str]:
    """Return what axe finds wrong with a page."""
    found = tab.evaluate("options => axe.run(document, options)", RULES)["violations"]
    return [f"{each['id']}: {node['target']} {node['html'][:200]}" for each in found for node in each["nodes"][:3]]


def looked_at(tab: Page) -> list[str]:
    """Return what is wrong with a page: narrow and light, then wide and dark; or each width in both."""
    wrong = []
    for width in WIDTHS:
        tab.set_viewport_size({"width": width, "height": 900})
        for scheme in SCHEMES if IS_WHOLE else (SCHEMES[width > NARROW],):
            tab.emulate_media(color_scheme=scheme)
            wrong += [f"{width}, {scheme}: {each}" for each in violations(tab)]
        beyond = tab.evaluate(BEYOND)
        wrong += [f"{width}: scrolls sideways by {beyond}"] if beyond > 0 else []
    return wrong


def test_axe_finds_nothing_and_nothing_scrolls_sideways(chromium: Browser, site: Site) -> None:
    """Each view is whole narrow and wide, light and dark, with all that can be opened open."""
    wrong = list[str]()
    with visiting(chromium, site) as visitor:
        visitor.context.add_init_script(AXE_SCRIPT)
        for path in VIEWS:
            visitor.tab.goto(path)
            visitor.tab.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
            wrong += [f"{path} {each}" for each in looked_at(visitor.tab)]
    assert "\n".join(wrong) == ""


@WHOLE
def test_a_report_is_for_everybody_too(chromium: Browser, site: Site, tmp_path: Path) -> None:
    """The same parts in one file are as whole."""
    file = tmp_path / "report.html"
    site.run("report", *(() if IS_WHOLE else SEVERAL), "--output", str(file))
    context = chromium.new_context(offline=True)
    context.add_init_script(AXE_SCRIPT)
    tab = context.new_page()
    tab.goto(file.as_uri())
    wrong = looked_at(tab)
    context.close()
    assert "\n".join(wrong) == ""


FOCUSABLE = """() => [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')]
    .filter((each) => each.type !== 'hidden' && !each.disabled && each.checkVisibility())
    .map((each) => each.outerHTML.slice(0, 120))"""
FOCUSED = """() => [document.activeElement.outerHTML.slice(0, 120),
    getComputedStyle(document.activeElement).outlineStyle !== 'none']"""


def test_tab_reaches_all_there_is_in_reading_order(chromium: Browser, site: Site) -> None:
    """Each link, button and field gets the focus once, from the top on, and one sees where it is."""
    with visiting(chromium, site) as visitor:
        tab = visitor.tab
        for path in ("/", "/board", "/tasks/20"):
            tab.goto(path)
            wanted, reached = tab.evaluate(FOCUSABLE), list[str]()
            for _ in wanted:
                tab.keyboard.press("Tab")
                shown, is_seen = tab.evaluate(FOCUSED)
                assert is_seen, shown
                reached.append(shown)
            assert reached == wanted
