"""What sealing promises for every text: what counts for a seal, where a cited section ends, and one result for all."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from taskstate.context.capture import MAX_VALUE_BYTES, shorten
from taskstate.context.capture_paths import captured_paths
from taskstate.context.citations import Standard, content_sha, slug_of, truncated
from taskstate.context.static_context_edits import changed_parts, with_parts
from taskstate.model.static_context import StaticPart, context_seal, read_static, static_text
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import front_matter_values
from taskstate.syntax.document import parse
from taskstate.syntax.spans import with_newlines
from tests.support.markdown_strategies import any_text, markdown

HEAD = '---\ntaskstate: 1\ntask_id: "7"\ntitle: T\n---\n\n# Task #7: T - State\n\n'
REST = "\n\n## 2. Chain Inputs\n\nNone.\n"
words = st.text(
    st.characters(exclude_categories=("Cc", "Cf", "Cs", "Zl", "Zp", "Zs"), exclude_characters="[]\\`*#"), min_size=1
)
criteria = st.lists(st.tuples(words, st.sampled_from(" xX")), min_size=1, max_size=4)


@st.composite
def static_parts(draw: st.DrawFn) -> tuple[str, str]:
    """Return a section 1, and the same with every criterion unchecked."""
    listed, words_of = draw(criteria), draw(st.lists(words, max_size=3))
    before = "\n\n".join(("### Own words", *(f"w{text}" for text in words_of)))
    checked = "\n".join(f"- [{mark}] w{text}" for text, mark in listed)
    plain = "\n".join(f"- [ ] w{text}" for text, _ in listed)
    head = f"{before}\n\n### Acceptance Criteria\n\n"
    return head + checked, head + plain


def whole(static: str) -> str:
    """Return a state file with that section 1."""
    return f"{HEAD}## 1. Static Context\n\n{static}{REST}"


def seal(text: str) -> str | None:
    """Return the seal over a text's static part."""
    document = parse(text)
    return context_seal(document, front_matter_values(document))


@given(static_parts())
def test_sealed_text_is_the_section_with_nothing_checked(parts: tuple[str, str]) -> None:
    """It is found by reading line by line too: blanks at ends go, criteria are unchecked, all else stays."""
    checked, plain = parts
    lines = [line.rstrip(" \t") for line in plain.split("\n")]
    assert static_text(parse(whole(checked))) == "\n".join(lines).strip("\n")


@given(markdown, st.data())
def test_seal_counts_no_blanks_at_line_ends(body: str, data: st.DataObject) -> None:
    """Blanks at the ends of lines, and line ends, may change as long as they make no other structure."""
    text = with_newlines(whole(f"### Task Description\n\n{body}"), "\n")
    sealed = static_text(parse(text))
    lines = text.split("\n")
    ends = data.draw(st.lists(st.sampled_from(("", " ", "\t", "  ")), min_size=len(lines), max_size=len(lines)))
    loose = "\n".join(line + end if line else line for line, end in zip(lines, ends, strict=True))
    other = static_text(parse(loose.replace("\n", data.draw(st.sampled_from(("\n", "\r\n"))))))
    same = [each.title for each in parse(loose).sections] == [each.title for each in parse(text).sections]
    assert not same or other == sealed


@given(st.data())
def test_seal_counts_every_other_character(data: st.DataObject) -> None:
    """Any other change of one character within the section is another seal."""
    body = "Issue tokens,\n\n  and  keys.\n\n```\n- [ ] code\n```\n\n### Acceptance Criteria\n\n- [ ] A\n- [ ] B"
    text = whole(f"### Task Description\n\n{body}")
    start = text.index("### Task")
    marks = {each.mark.start for each in read_state(parse(text)).criteria}
    places = [at for at in range(start, text.index(REST)) if at not in marks and text[at] != "\n"]
    at = data.draw(st.sampled_from(places))
    new = data.draw(st.characters(codec="utf-8", min_codepoint=33, exclude_characters=text[at]))
    assert seal(text[:at] + new + text[at + 1 :]) != seal(text)


# Where a section ends

LINES = st.sampled_from(
    [
        "# A",
        "## A",
        "## B c",
        "### A",
        "#### D",
        "text",
        "",
        "",
        "  ",
        "- item",
        "```",
        "~~~",
        "    ## code",
        "> ## q",
        "##",
    ]
)


def sections_by_hand(lines: list[str]) -> list[tuple[str, int, int]]:
    """Return title, first and last line of each section, read line by line."""
    headings: list[tuple[int, int, str]] = []
    fence = ""
    for number, line in enumerate(lines, start=1):
        found = re.match(r"(#{1,6})(?: +(.*))?\Z", line)
        if fence:
            fence = "" if line == fence else fence
        elif line in {"```", "~~~"}:
            fence = line
        elif found:
            headings.append((number, len(found[1]), found[2] or ""))
    found_sections = []
    for index, (number, level, title) in enumerate(headings):
        end = next((other for other, deeper, _ in headings[index + 1 :] if deeper <= level), len(lines) + 1) - 1
        while not lines[end - 1].strip(" \t"):
            end -= 1
        found_sections.append((title, number, end))
    return found_sections


@given(st.lists(LINES, max_size=25), st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from(["", "\n"]))
def test_sections_are_those_of_a_plain_reading(lines: list[str], newline: str, end: str) -> None:
    """Every heading that has a slug is cited with the lines that a reader counts, and their hash."""
    standard = Standard(newline.join(lines) + (newline if end else ""))
    by_hand = sections_by_hand(lines)
    assert len({*standard.sections}) == len([title for title, _, _ in by_hand if slug_of(title)])
    found = {cited.line_span: cited for slug in standard.sections if (cited := standard.cited(slug))}
    for title, first, last in by_hand:
        if slug_of(title):
            assert found[f"L{first}-L{last}"].content_sha == content_sha(tuple(lines[first - 1 : last]))


@given(st.lists(st.sampled_from(["A", "a", "A 1", "A-1", "a 1 1", "!"]), max_size=12))
def test_no_slug_is_given_twice(titles: list[str]) -> None:
    """Each heading that has an anchor has its own."""
    standard = Standard("".join(f"## {title}\n\n" for title in titles))
    assert len(standard.sections) == len([title for title in titles if title != "!"])


@given(any_text)
def test_any_text_can_be_cited(text: str) -> None:
    """No text makes citing fail; what it gives keeps to the form."""
    standard = Standard(text)
    for slug in standard.sections:
        cited = standard.cited(slug)
        assert cited
        assert 0 < len(cited.requirement) <= 140 or not cited.requirement.strip()
        assert re.fullmatch(r"L[1-9][0-9]*-L[1-9][0-9]*", cited.line_span)


@given(st.text(), st.integers(min_value=10, max_value=200))
def test_a_cut_text_is_short(text: str, most: int) -> None:
    """However long its words are, a cut text has no more characters, and what fits is not cut."""
    assert len(truncated(text, most)) <= most


@given(st.text(min_size=1).filter(str.strip))
@example("# 0\n")
def test_a_shortened_value_is_short(text: str) -> None:
    """It has at most 2 KiB, and names where the whole is."""
    plain = "".join(char for char in text if char.isprintable() or char in " \n") or "x"
    found = shorten(f"x{plain * 3000}", "tasks/x.yaml#L3")
    assert len(found.encode()) <= MAX_VALUE_BYTES
    assert found.endswith("… see tasks/x.yaml#L3")


# One result

paths = st.lists(st.sampled_from([":ui", "`:ui` - screens", "src/**", "`b c/*` (old)", "!src/x", "!:ui", "`src/**`"]))


@given(paths, st.randoms(use_true_random=False))
def test_paths_in_any_order(items: list[str], random: object) -> None:
    """Repository paths come out the same in whatever order they are given, and stay so."""
    macros = {"ui": ("ui/**", "app/*.ts")}
    turned = list(items)
    random.shuffle(turned)  # type: ignore[attr-defined]  # hypothesis gives a Random
    found = captured_paths(items, macros)
    assert captured_paths(turned, macros) == found == captured_paths(found, macros)


plain_words = st.text("abc é", min_size=1, max_size=12).map(str.strip).filter(bool)
texts = st.lists(plain_words, max_size=3).map(tuple)


statics = st.builds(
    StaticPart,
    description=st.just("New."),
    scope_in=texts,
    scope_out=texts,
    criteria=texts.filter(bool),
    standards=st.just(({"file": "a"},)),
    commands=texts.filter(bool),
    paths=st.just(("src/**",)),
)


@given(statics, st.sampled_from(["\n", "\r\n"]), markdown)
def test_parts_are_written_as_they_are_read(wanted: StaticPart, newline: str, behind: str) -> None:
    """What is written into section 1 is read from it again; what stands beside it keeps every byte."""
    text = whole("### Task Description\n\nOld.\n\n### Own\n\nKept.  \n").replace("\n", newline) + behind
    document = parse(text)
    after = with_parts(document, changed_parts(read_static(read_state(document)), wanted))
    assert read_static(read_state(parse(after))) == wanted
    assert f"### Own{document.newline * 2}Kept.  {document.newline}" in after or document.newline != newline
    assert after.endswith(text[text.index("## 2.") :])
    assert after.startswith(HEAD.replace("\n", newline))
