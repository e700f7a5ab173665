"""The built documentation is found by search when it is opened from disk, and fetches nothing from elsewhere."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.page.conftest import WHOLE
from tests.support.checkout import copy_to

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow


@WHOLE
def test_search_works_from_disk(tmp_path: Path, chromium: Browser) -> None:
    """A word of the glossary has results, no request leaves the folder of the site, and nothing goes wrong."""
    root = copy_to(tmp_path)
    build = [sys.executable, "-m", "zensical", "build", "--strict"]
    subprocess.run(build, cwd=root, check=True, capture_output=True)
    page = chromium.new_page()
    asked: list[str] = []
    wrong: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto((root / "site" / "index.html").as_uri())
    page.keyboard.press("Control+k")
    page.locator("input:focus").wait_for()
    page.keyboard.type("drift", delay=50)
    page.get_by_text("TS703").first.wait_for()
    page.close()
    assert wrong == []
    assert [each for each in asked if not each.startswith((root / "site").as_uri())] == []
