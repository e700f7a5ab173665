"""The documentation names every command and flag, can be found and read, and uses plain words."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from taskstate.lint.registry import RETIRED
from tests.support.command_line import flags, flags_of, operations

DOCS = Path(__file__).parent.parent / "docs"
PACKAGE = DOCS.parent / "taskstate"
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")}


def missing(flags: set[str], text: str) -> list[str]:
    """Return the long flags that a text does not name."""
    return sorted(
        each for each in flags if each.startswith("--") and not re.search(rf"{re.escape(each)}(?![\w-])", text)
    )


def test_every_command_is_documented() -> None:
    """Each operation has its heading, and each of its flags stands on some page."""
    everything = "".join(PAGES.values())
    for each in operations():
        assert re.search(rf"^### `taskstate {each.name}`", PAGES["commands"], re.MULTILINE), each.name
        assert missing(flags(each), everything) == []


def test_linting_has_its_own_page() -> None:
    """Each flag of `lint` is explained there, but for those that all commands share."""
    assert set(missing(flags_of("lint"), PAGES["linting"])) <= flags_of("purge")


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_paths_that_developers_are_sent_to_exist(page: str) -> None:
    """A module that moves takes its mentions in the developers' pages along."""
    text = (DOCS.parent / page).read_text(encoding="utf-8")
    paths = re.findall(r"`([\w/-]+/[\w/.-]*\.(?:py|json))`", text)
    assert len(paths) > 5
    new = "taskstate/operations/rename.py"  # the operation that CONTRIBUTING adds
    root = DOCS.parent
    assert [path for path in paths if path != new and not any((each / path).exists() for each in (root, PACKAGE))] == []


# Pages of which nothing but the generated part is written here: a rule says at once what is wrong.
GENERATED = ("rules/",)
RECORDS = re.compile(r"decisions/\d\d\d-|decisions/refused")  # each begins with its question under a heading
# Pages that somebody looks something up in; all others are read from their beginning to their end.
REFERENCES = {"api", "commands", "configuration", "format", "json", "linting", "mcp", "requirements"}
REFERENCES |= {"questions", "rules/coverage", "security-tests"}
MOST_LINES = 300
QUESTION = re.compile(r"# .+\n\n\*\*[^*\n]+\?\*\*")
ALL_PAGES = {path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md")}


def test_every_page_begins_with_its_question() -> None:
    """The first line below the heading is the question that the page answers, in bold."""
    without = [
        name
        for name, text in ALL_PAGES.items()
        if not (name.startswith(GENERATED) or RECORDS.match(name) or QUESTION.match(text))
    ]
    assert without == []


def test_every_page_can_be_found() -> None:
    """A page is in the navigation, or the index of its folder links to it."""
    nav = tomllib.loads((DOCS.parent / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"]
    named = re.findall(r"'([\w/-]+\.md)'", str(nav))
    assert len(named) == len(set(named))
    linked = {
        f"{folder}/{name}"
        for folder in ("decisions", "rules")
        for name in re.findall(r"\]\(([\w-]+\.md)\)", ALL_PAGES[f"{folder}/index.md"])
    }
    retired = {f"rules/{each.code}.md" for each in RETIRED}  # found by whoever has the code
    assert set(named) | linked | retired == set(ALL_PAGES)


def test_no_page_is_too_long_to_be_read() -> None:
    """What is read from its beginning to its end has a bound; a reference has none."""
    assert {
        name: lines
        for name, text in ALL_PAGES.items()
        if name.removesuffix(".md") not in REFERENCES and (lines := len(text.splitlines())) > MOST_LINES
    } == {}


def test_no_word_is_used_that_has_to_be_read_twice() -> None:
    """README, pages, the help of every command and what agents read have no word of `tests/cases/words.json`."""
    words: dict[str, str] = json.loads((Path(__file__).parent / "cases" / "words.json").read_text(encoding="utf-8"))
    texts = {f"docs/{name}": text for name, text in ALL_PAGES.items()}
    read = (DOCS.parent / "README.md", *(DOCS.parent / "templates").rglob("*.md*"))
    texts |= {path.name: path.read_text(encoding="utf-8") for path in read}
    found = [
        f"{name}: {match[0]!r}: {instead}"
        for name, text in texts.items()
        for pattern, instead in words.items()
        for match in re.finditer(pattern.replace(" ", r"\s+"), text, re.IGNORECASE)
    ]
    assert found == []


def test_the_glossary_explains_about_twenty_words() -> None:
    """Each word stands there once, and is used on some other page."""
    words = re.findall(r"^\| \*\*([^*]+)\*\* \|", PAGES["glossary"], re.MULTILINE)
    assert 18 <= len(words) == len(set(words)) <= 25
    others = "".join(text for name, text in ALL_PAGES.items() if name != "glossary.md").lower()
    assert [word for word in words if word not in others] == []
