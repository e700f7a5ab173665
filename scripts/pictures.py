"""Takes the pictures of the page for the documentation: a lead's usual day, as Chromium shows it."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from tests.page.conftest import browsing, serving, visiting
from tests.page.scene import usual

PICTURES = Path(__file__).resolve().parent.parent / "docs" / "pictures"
MOST = 200 * 1024  # bytes
SHOWN = {"overview": "/", "board": "/board", "task": "/tasks/20"}


def main() -> int:
    """Take each picture anew, and return 1 where there is no browser or one is too large."""
    with tempfile.TemporaryDirectory() as folder, browsing() as browser:
        if isinstance(browser, str):
            sys.stderr.write(f"{browser}\n")
            return 1
        # What the page says of the machine is the same wherever the pictures are taken.
        os.environ.update(HOME=folder, XDG_STATE_HOME=f"{folder}/state", GIT_CONFIG_GLOBAL=os.devnull, TZ="UTC")
        scene = usual(Path(folder).resolve() / "shop")
        PICTURES.mkdir(exist_ok=True)
        with serving(scene.root) as site, visiting(browser, site) as visitor:
            visitor.tab.set_viewport_size({"width": 1280, "height": 860})
            for name, path in SHOWN.items():
                visitor.tab.goto(path)
                visitor.tab.get_by_role("status").get_by_text("live").wait_for()
                visitor.tab.screenshot(path=PICTURES / f"{name}.png")
    sizes = {path.name: path.stat().st_size for path in sorted(PICTURES.glob("*.png"))}
    sys.stdout.writelines(f"{name}: {size // 1024} KB\n" for name, size in sizes.items())
    return int(max(sizes.values()) > MOST)


if __name__ == "__main__":
    sys.exit(main())
