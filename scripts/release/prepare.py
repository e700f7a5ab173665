"""Prepares a release: `python -m scripts.release.prepare 1.2.3`, or `make release VERSION=1.2.3`.

All is checked and built in a temporary folder. Only if all of it is good are the files of the checkout changed, and
both archives put into `dist/`. Nothing is committed, tagged or uploaded, and no test is run.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from scripts.release.distributions import ROOT, NotMade, build_twice, copied, said, sha256

if TYPE_CHECKING:
    from collections.abc import Mapping

CHANGELOG = "CHANGELOG.md"
# Where the version stands; to generate everything anew takes half a minute, and `make check` names what is missing.
PLACES = (
    ("taskstate/version.py", 'VERSION = "{}"'),
    ("plugins/claude-code/.claude-plugin/plugin.json", '"version": "{}"'),
    ("docs/linting.md", "rev: v{}"),
)
_NOTHING = "Nothing yet."
_UNRELEASED = re.compile(r"^## \[Unreleased\]\n(.*?)(?=^## \[|\Z)", re.MULTILINE | re.DOTALL)
_RELEASED = re.compile(r"^## \[(\d+\.\d+\.\d+)\]", re.MULTILINE)
_VERSION = re.compile(r"(?:0|[1-9]\d{0,5})(?:\.(?:0|[1-9]\d{0,5})){2}", re.ASCII)
_STEPS = """\
Prepared, and not committed: {version} is in {changed}.
{archives}
Not done here: no test was run, nothing was committed, tagged or uploaded. What comes next:
  make test && make install-check
  git diff
  git add --all && git commit --message "Release {version}"
  git tag --annotate v{version} --message "Release {version}"
  git push && git push origin v{version}
  twine upload {files}
To take it back before the commit: git checkout -- {changed}"""


def numbers(version: str) -> tuple[int, ...]:
    """Return a version so that one can compare it."""
    return tuple(map(int, version.split(".")))


def refuse_version(version: str, current: str, changelog: str) -> None:
    """Refuse what is no version, or not newer than all that was released.

    Raises:
        NotMade: with what would be a version.
    """
    if not _VERSION.fullmatch(version):
        raise NotMade(f"{version!r} is no version: give three numbers, make release VERSION=1.2.3")
    newest = max(_RELEASED.findall(changelog), key=numbers, default="")
    if (newest and numbers(version) <= numbers(newest)) or numbers(version) < numbers(current):
        raise NotMade(f"{version} is not newer than {newest or current}: give a higher VERSION")


def released(changelog: str, version: str, day: str) -> str:
    """Return the changelog with its unreleased changes under a version and its date.

    Raises:
        NotMade: there is no such section, or nothing in it.
    """
    section = _UNRELEASED.search(changelog)
    if section is None:
        raise NotMade(f"{CHANGELOG} has no section `## [Unreleased]`: add it with what changed for users")
    changes = section[1].strip()
    if changes in {"", _NOTHING}:
        raise NotMade(f"{CHANGELOG} says nothing under `## [Unreleased]`: write there what changed for users")
    text = f"## [Unreleased]\n\n{_NOTHING}\n\n## [{version}] - {day}\n\n{changes}\n"
    rest = changelog[section.end() :]
    return changelog[: section.start()] + text + ("\n" + rest if rest else "")


def with_version(text: str, form: str, current: str, version: str) -> str:
    """Return a text in which a form that holds the version holds another one.

    Raises:
        NotMade: the present version does not stand there.
    """
    if form.format(current) not in text:
        raise NotMade(f"`{form.format(current)}` was not found: correct PLACES in scripts/release/prepare.py")
    return text.replace(form.format(current), form.format(version))


def prepare(root: Path, version: str, day: str) -> str:
    """Prepare a release in a checkout, and return what was done and what a person does next.

    Raises:
        NotMade: something stands against it; nothing was changed.
    """
    changelog = (root / CHANGELOG).read_text(encoding="utf-8")
    current = re.findall(r'^VERSION = "(.+)"', (root / PLACES[0][0]).read_text(encoding="utf-8"), re.MULTILINE)[0]
    refuse_version(version, current, changelog)
    if changed := said("git", "status", "--porcelain", cwd=root).splitlines():
        raise NotMade(f"the tree is not clean ({changed[0].strip()}): commit or remove what git status shows")
    if said("git", "tag", "--list", f"v{version}", cwd=root):
        raise NotMade(f"there is a tag v{version} already: give a higher VERSION")
    texts = {CHANGELOG: released(changelog, version, day)}
    for name, form in PLACES:
        texts[name] = with_version((root / name).read_text(encoding="utf-8"), form, current, version)
    with tempfile.TemporaryDirectory(prefix="taskstate-release-") as folder:
        source = copied(root, Path(folder) / "source")
        for name, text in texts.items():
            (source / name).write_text(text, encoding="utf-8")
        archives = build_twice(source, Path(folder))
        said(sys.executable, "-m", "twine", "check", "--strict", *map(str, archives), cwd=source)
        return _put(root, texts, archives, version)


def _put(root: Path, texts: Mapping[str, str], archives: tuple[Path, ...], version: str) -> str:
    """Bring what was made into the checkout, and return what to say."""
    changed = [name for name, text in texts.items() if (root / name).read_text(encoding="utf-8") != text]
    for name in changed:
        (root / name).write_text(texts[name], encoding="utf-8")
    shutil.rmtree(root / "dist", ignore_errors=True)
    (root / "dist").mkdir()
    made = [Path(shutil.copy(each, root / "dist")).relative_to(root) for each in archives]
    return _STEPS.format(
        version=version,
        changed=" ".join(changed),
        archives="\n".join(f"  {sha256(root / each)}  {each}" for each in made),
        files=" ".join(map(str, made)),
    )


def main(arguments: list[str]) -> int:
    """Prepare the release that is asked for, and return the exit status."""
    try:
        print(prepare(ROOT, "".join(arguments), datetime.now(tz=UTC).date().isoformat()))
    except NotMade as problem:
        print(f"release: {problem}; nothing was changed", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
