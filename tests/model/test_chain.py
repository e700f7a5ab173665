"""Task outputs and chain inputs, written by people and by the tool."""

from __future__ import annotations

import re

import pytest

from taskstate.errors import TaskstateError
from taskstate.model import chain, chain_quotes
from taskstate.model.algorithms import DependencyGraph
from taskstate.model.canonical_json import sha256
from taskstate.model.chain_quotes import Upstream
from taskstate.model.config import Chain, Config
from taskstate.syntax import escaping
from taskstate.syntax.document import parse, parse_head

NOW = "2025-02-03T11:30:00Z"
HEAD = """---
taskstate: 1
task_id: "101"
title: JWT Service
status: complete
revision: 7
depends_on: ["100", auth-2]
---

# Task #101: JWT Service - State

"""
PART = "### {}\n\n{}\n\n"
COMMENT = "<!-- taskstate: input 101 r7 sha256:{} {} -->"


def upstream(output: str = "### Summary\n\nDone.", **fields: str) -> Upstream:
    """Return a complete task with that output."""
    values = {"id": "101", "path": "task-101-state.md", "title": "JWT Service", "status": "complete"} | fields
    own_id, path, title, status = (values[key] for key in ("id", "path", "title", "status"))
    return Upstream(own_id, path, title, status, 7, (), output, sha256(output)[:16])


def output(text: str, head: str = HEAD) -> str:
    """Return the output of a task whose Chain Output holds that text."""
    return chain.read_upstream(parse(f"{head}## 6. Chain Output\n\n{text}"), "tasks/task-101-state.md").output


def pulled(inputs: str, up: Upstream | None = None, kb: int = 3) -> str:
    """Return what stands between the Chain Inputs' heading and the next one after pulling."""
    text = f"{HEAD}## 2. Chain Inputs{inputs}## 3. Feature Checklist\n"
    after = chain.with_input(parse(text), up or upstream(), NOW, Config(chain=Chain(max_input_kb=kb)))
    assert (
        chain.with_input(parse(after), up or upstream(), "2026-01-01T00:00:00Z", Config(chain=Chain(max_input_kb=kb)))
        == after
    )
    return after.split("## 2. Chain Inputs", 1)[1].rsplit("## 3.", 1)[0]


def whole(up: Upstream | None = None) -> str:
    """Return the Chain Input of a task."""
    return chain.render_input(up or upstream(), NOW, Config())


# What a task hands down


def test_upstream_is_read() -> None:
    """Everything that those who build on a task need is told by its file."""
    text = f"{HEAD}## 6. Chain Output\n\n### Summary\n\nDone.\n"
    result = chain.read_upstream(parse(text), ".taskstate/tasks/task-101-state.md")
    assert result == upstream(path=".taskstate/tasks/task-101-state.md")._replace(depends_on=("100", "auth-2"))
    head = chain.read_upstream(parse_head(text), "task-101-state.md")
    assert head == result._replace(path="task-101-state.md", output="", output_sha="")
    assert chain.is_complete(parse_head(text))


def test_upstream_is_known_by_the_name_of_its_file() -> None:
    """The id in the file's name counts, and the one in the front matter only where the name has none."""
    document = parse(f"{HEAD}## 6. Chain Output\n\nDone.\n")
    assert chain.read_upstream(document, "tasks/task-102-state.md").id == "102"
    assert chain.read_upstream(document, "notes.md").id == "101"


def test_title_is_one_line() -> None:
    """A folded title becomes one line, and a task without one has none."""
    text = HEAD.replace("title: JWT Service", "title: |\n  JWT\n  Service")
    assert chain.read_upstream(parse(text), "x").title == "JWT Service"
    assert whole(upstream(title="")).startswith("### From Task #101\n\n<!--")


@pytest.mark.parametrize("status", ["created", "in_progress", "blocked", "done", "''"])
def test_task_that_is_not_complete_hands_nothing_down(status: str) -> None:
    """Only a complete task has an output."""
    head = HEAD.replace("complete", status)
    assert output("### Summary\n\nDone.\n", head) == ""
    assert not chain.is_complete(parse(head))


def test_output_is_what_was_written() -> None:
    """Placeholders, empty parts, comments and lists without items are left out; all else stands word for word."""
    said = PART.format("Summary ###", "Tokens  \n\n    are issued.\n\n*To be completed.* is what it said.")
    parts = [("Files Created/Modified", "*To be completed.*"), ("API Contract", ""), ("Mine", "<!-- a remark -->")]
    parts += [("Lists", "- \n-\n"), ("Own", "_Nothing yet._"), ("Configuration Required", "None.")]
    text = said + "".join(PART.format(*part) for part in parts)
    assert output(text) == said + "### Configuration Required\n\nNone."
    assert output(text.replace("\n", "\r\n")) == output(text)
    assert output("Free words.\n\n" + said) == "Free words.\n\n" + said.rstrip("\n")
    assert output("*To be completed.*\n\n" + said) == said.rstrip("\n")
    assert output("None of it.\n") == "None of it."
    assert output("\n \n") == ""


def test_structure_in_a_fence_is_text() -> None:
    """What looks like a heading or a placeholder within a fence belongs to its part."""
    text = "### API Contract\n\n```md\n### Summary\n\n*To be completed.*\n## 2. Chain Inputs\n```\n"
    assert output(text) == text.rstrip("\n")
    assert chain_quotes.parts_of(text + "\n### B\n\nx") == (text.rstrip("\n"), "### B\n\nx")
    assert chain_quotes.parts_of("Free.\n\n### B\n\nx") == ("Free.", "### B\n\nx")


def test_blank_lines_are_empty_but_in_code() -> None:
    """Blanks on a blank line, which the formatter drops, make no other output."""
    assert output("### A\n\nx\n  \ny\n\n```\n  \n```\n") == "### A\n\nx\n\ny\n\n```\n  \n```"


@pytest.mark.parametrize(
    "text", ["### Summary\n\n```\nopen\n", "### Summary\n\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"]
)
def test_damaged_output_is_none(text: str) -> None:
    """Where nobody can tell the output from the rest, nothing is handed down."""
    assert output(text) == ""


def test_permanent_task_has_no_output() -> None:
    """A kind without that section has no output, whatever stands there."""
    assert output("### Summary\n\nDone.\n", HEAD.replace("taskstate: 1", "taskstate: 1\nkind: permanent")) == ""


# A Chain Input


def test_input_is_as_the_format_says() -> None:
    """Heading, comment, quote: part by part."""
    text = "### Summary\n\nDone.\n\n    indented\n\n> quoted"
    assert whole(upstream(text)) == (
        "### From Task #101: JWT Service\n\n"
        f"{COMMENT.format(sha256(text)[:16], NOW)}\n\n"
        "> ### Summary\n>\n> Done.\n>\n>     indented\n>\n> > quoted"
    )


def test_large_output_is_cut_part_by_part() -> None:
    """Of each part there is as much as there is room for, with a mark where it is cut, and then where the rest is."""
    big = "### Summary\n\nDone.\n\n### B\n\n" + "word " * 300 + "\n\n### Notes\n\nShort."
    text = pulled("\n\nNone.\n\n", upstream(big), kb=1)
    assert "> Done.\n>\n> ### B\n>\n> word word" in text
    assert "> word word" in text
    assert " word …\n>\n> ### Notes\n>\n> Short.\n>\n> *Cut to stay within 1 KB. The whole output, 2 KB: `task" in text
    assert 900 < len(text.encode()) < 1100


PARAGRAPHS = "\n\n".join(f"Paragraph {number} says something. It has two sentences." for number in range(30))
ITEMS = "\n".join(f"- `src/module_{number}.py`" for number in range(60))
CODE = "```python\n" + "\n".join(f"def call_{number}() -> None: ..." for number in range(60)) + "\n```"


@pytest.mark.parametrize(
    ("part", "ending"),
    [
        (PARAGRAPHS, r"It has two sentences\.\n\n…"),
        (ITEMS, r"\n- `src/module_\d+\.py`\n\n…"),
        ("Files:\n\n" + ITEMS, r"\n- `src/module_\d+\.py`\n\n…"),
        (PARAGRAPHS.replace("\n\n", " "), r"(?:something|sentences)\. …"),
        ("wordy " * 400, r"wordy …"),
        (CODE, r"call_\d+\(\) -> None: \.\.\.\n```\n\n…"),
        ("Types:\n\n" + CODE, r"call_\d+\(\) -> None: \.\.\.\n```\n\n…"),
        ("x" * 2000, r"xxx …"),
        ("<!--\n" + "hidden\n\n" * 300 + "-->", r"### Summary\n\n…"),
        ("言葉です。" * 300, r"言葉です。 …"),
    ],
)
def test_part_is_cut_where_something_ends(part: str, ending: str) -> None:
    """A part ends with a paragraph, an item or a line of code; too long a paragraph, with a sentence or word."""
    up = upstream(f"### Summary\n\n{part.strip()}")
    quote = chain_quotes.unquoted(chain_quotes.quote_of(up, Config(chain=Chain(max_input_kb=1))))
    text = quote.rpartition("\n\n")[0]
    assert re.search(rf"{ending}\Z", text), text[-90:]
    assert all(block.closed for block in parse(text).blocks)


def test_input_in_the_older_cut_is_current() -> None:
    """A quote of whole parts that fitted is not rewritten for its form alone; one that was edited is stale."""
    parts = ("### API Contract\n\nGET /users", "### Notes\n\nShort.")
    up = upstream(f"{parts[0]}\n\n### B\n\n{'word ' * 300}\n\n{parts[1]}")
    cut = "*Cut to stay within 1 KB. The whole output, 2 KB: `taskstate chain output 101`*"
    config = Config(chain=Chain(max_input_kb=1))
    heading, comment, _ = chain_quotes.render_chain_input(up, NOW, config)

    def current(text: str, kb: int = 1) -> bool:
        document = parse(f"{HEAD}## 2. Chain Inputs\n\n{heading}\n\n{comment}\n\n{escaping.quote(text)}\n")
        (found,) = chain.inputs_of(document)
        return chain.is_current(document, found, up, Config(chain=Chain(max_input_kb=kb)))

    older = "\n\n".join((*parts, cut))
    assert current(older)
    assert current(cut)
    assert not current(older, kb=2)
    assert not current(older.replace("GET", "PUT"))
    assert not current("\n\n".join((*reversed(parts), cut)))
    assert not current("\n\n".join(parts))


def test_inputs_stand_in_natural_order() -> None:
    """Whenever a task is complete, its output stands before that of a later id; what is there is not moved."""
    text = "\n\nNone.\n\n"
    for task_id in ("10", "101", "9", "100a"):
        text = pulled(text, upstream(id=task_id))
    headings = [line for line in text.split("\n") if line.startswith("###")]
    assert headings == [f"### From Task #{each}: JWT Service" for each in ("9", "10", "100a", "101")]
    by_hand = "\n\nMine.\n\n### From Task #300: By hand\n\nIt is so.\n\n"
    after = pulled(by_hand, upstream(id="20"))
    assert after.startswith("\n\nMine.\n\n### From Task #20: JWT Service\n\n<!--")
    assert after.endswith("> Done.\n\n### From Task #300: By hand\n\nIt is so.\n\n")


@pytest.mark.parametrize(("field", "code"), [("output", "control-characters"), ("title", "control-characters")])
def test_control_characters_are_refused(field: str, code: str) -> None:
    """What a terminal would obey is not copied from file to file."""
    with pytest.raises(TaskstateError) as caught:
        whole(upstream(**{field: "a\x1b]0;b"}))
    assert caught.value.code == code


def test_empty_output_is_refused() -> None:
    """There is no input without an output."""
    with pytest.raises(TaskstateError, match="the output of task 101 is empty"):
        whole(upstream(""))


# Pulling


@pytest.mark.parametrize("open_part", ["None.", "None", "*To be completed.*", "_Nothing yet_", ""])
@pytest.mark.parametrize("around", ["\n\n{}\n\n", "\n{}\n", "\n\n\n{}\n\n\n"])
def test_first_input_takes_the_place_of_what_says_that_there_is_none(open_part: str, around: str) -> None:
    """A placeholder goes, and there is a blank line before and behind the input."""
    text = pulled(around.format(open_part))
    assert text.strip("\n") == whole()
    assert text.startswith("\n\n")
    assert text.endswith("\n\n")


@pytest.mark.parametrize("own", ["Mine.", "None of them matters.", "- a\n- b", "> quoted", "### Mine\n\nText."])
def test_hand_written_text_stays_before_the_input(own: str) -> None:
    """What people wrote comes first, and stays as it is."""
    assert pulled(f"\n\n{own}\n\n") == f"\n\n{own}\n\n{whole()}\n\n"


def test_rule_that_closes_a_section_stays_behind() -> None:
    """A rule between two sections is no part of what stands before it."""
    assert pulled("\n\nMine.\n\n---\n\n") == f"\n\nMine.\n\n{whole()}\n\n---\n\n"
    assert pulled("\n\n---\n\n") == f"\n\n{whole()}\n\n---\n\n"
    assert pulled("\n\nMine.\n***\n\n") == f"\n\nMine.\n***\n\n{whole()}\n\n"  # no blank line: it is part of the text
    assert pulled("\r\rMine.\r\r***\r\r") == f"\r\rMine.\n\n{whole()}\r\r***\r\r"


def test_open_heading_is_filled() -> None:
    """A heading without content, or with a placeholder, gets what it waits for, and keeps its words."""
    body = whole().split("\n\n", 1)[1]
    for part in ("", "*To be completed.*\n\n"):
        text = pulled(f"\n\n### From #101 \u2014 tokens\n\n{part}### From Task #7: x\n\nText.\n\n")
        assert text == f"\n\n### From #101 \u2014 tokens\n\n{body}\n\n### From Task #7: x\n\nText.\n\n"


def test_hand_written_input_stays() -> None:
    """An input that somebody wrote counts as one; pulling all the same adds the true one behind it."""
    own = "\n\n### From Task #101: JWT Service\n\nTokens, I think.\n\n"
    assert chain.has_input(parse(f"{HEAD}## 2. Chain Inputs{own}"), "101")
    assert pulled(own) == f"{own}{whole()}\n\n"


def test_later_output_takes_the_place_of_the_earlier_one() -> None:
    """Comment and quote are replaced; heading, remarks and other quotes stay."""
    head = "\n\n### From Task #101: as I call it\n\nRead this:\n\n"
    behind = "\nNo blank line before me.\n\n> my own quote\n\n"
    old = whole(upstream("### Summary\n\nOld.\n\n### B\n\nx")).split("\n\n", 1)[1]
    new = whole().split("\n\n", 1)[1]
    assert pulled(head + old + behind) == head + new + "\n" + behind
    assert pulled(head + old + "\n" + behind) == head + new + "\n" + behind
    assert pulled(head + old.split("\n\n")[0] + "\n\n") == head + new + "\n\n"


def test_both_of_two_are_brought_up_to_date() -> None:
    """A merge may have brought an input twice."""
    old = whole(upstream("### Summary\n\nOld."))
    assert pulled(f"\n\n{old}\n\n{old}\n\n") == f"\n\n{whole()}\n\n{whole()}\n\n"


def test_ids_are_the_same_whatever_their_case() -> None:
    """An input of `AUTH-2` is that of `auth-2`."""
    old = whole(upstream("### Summary\n\nOld.", id="AUTH-2"))
    text = pulled(f"\n\n{old}\n\n", upstream(id="auth-2"))
    assert text.count("taskstate: input") == 1
    assert "input auth-2 r7" in text


@pytest.mark.parametrize("opening", ["```text\nopen", "<!-- open", "<pre>\nopen"])
def test_what_would_be_swallowed_is_not_pulled(opening: str) -> None:
    """Where something never closes, nothing is changed and the cause is told."""
    with pytest.raises(TaskstateError, match="never closes"):
        pulled(f"\n\n{opening}\n\n")


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_heading_that_is_swallowed_ends_nothing(newline: str) -> None:
    """A fence that another one closes takes in the next section: an input would land there."""
    text = f"{HEAD}## 2. Chain Inputs\n\n```\nx\n## 3. Feature Checklist\n\n```json\n{{}}\n```\n\n## 4. Progress Log\n"
    with pytest.raises(TaskstateError, match=r"never closes before the heading '3. Feature Checklist'"):
        chain.with_input(parse(text.replace("\n", newline)), upstream(), NOW, Config())
    named = text.replace("```json", "```\n\n## 3. Feature Checklist\n\n```json")
    assert "From Task #101" in chain.with_input(parse(named.replace("\n", newline)), upstream(), NOW, Config())


# Whose a quote is


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_lines_below_the_quote_stay(newline: str) -> None:
    """What somebody wrote directly below the quote becomes a quote of its own when the output changes."""
    old = whole(upstream("### Summary\n\nOld."))
    text = f"{HEAD}## 2. Chain Inputs\n\n{old}\n> my own line\n>\n> and more\n\n## 3. Feature Checklist\n"
    after = chain.with_input(parse(text.replace("\n", newline)), upstream(), NOW, Config()).replace(newline, "\n")
    assert f"{whole()}\n\n> my own line\n>\n> and more\n\n## 3." in after
    assert chain.with_input(parse(after), upstream("### Summary\n\nNew."), NOW, Config()).count("> my own line") == 1
    assert all(chain.is_current(parse(after), each, upstream(), Config()) for each in chain.inputs_of(parse(after)))


def test_lines_in_the_quote_stay() -> None:
    """A line that the output does not have is kept, wherever in the quote it stands; one that was ours goes."""
    quote = whole(upstream("### Summary\n\nDone.\n\nMore.")).replace("> Done.", "> Done.\n> mine")
    same = pulled(f"\n\n{quote}\n\n", upstream("### Summary\n\nDone.\n\nMore."))
    assert same.endswith("> More.\n\n> mine\n\n")
    later = pulled(f"\n\n{quote}\n\n", upstream("### Summary\n\nDone.\n\nLess."))
    assert later.endswith("> Less.\n\n> mine\n> More.\n\n")


def test_quote_that_was_taken_out_comes_again() -> None:
    """The comment alone is no input, and neither is a part of the quote."""
    for damaged in (whole().rsplit("\n\n", 1)[0], whole().removesuffix("\n>\n> Done.")):
        document = parse(f"{HEAD}## 2. Chain Inputs\n\n{damaged}\n")
        assert not any(chain.is_current(document, each, upstream(), Config()) for each in chain.inputs_of(document))
        assert pulled(f"\n\n{damaged}\n\n") == f"\n\n{whole()}\n\n"


def test_lines_below_a_cut_quote_stay() -> None:
    """A quote that was cut ends with the line that says so."""
    config = Config(chain=Chain(max_input_kb=1))
    text = f"{HEAD}## 2. Chain Inputs\n\nNone.\n\n## 3. Feature Checklist\n"
    old = chain.with_input(parse(text), upstream("### Summary\n\n" + "word " * 300), NOW, config)
    own = old.replace("\n\n## 3.", "\n> mine\n\n## 3.")
    after = chain.with_input(parse(own), upstream("### Summary\n\n" + "other " * 300), NOW, config)
    assert "101`*\n\n> mine\n\n## 3." in after
    assert "101`*\n\n> mine\n\n## 3." in chain.with_input(
        parse(own), upstream("### Summary\n\n" + "word " * 300), NOW, config
    )


def test_structured_parts_are_kept_whole() -> None:
    """Where an output is too large, what programs are written against is not what is cut, and stays in its place."""
    contract, code = "### API Contract\n\nGET /users", "### Notes\n\n```ini\na = 1\n```"
    big = f"### Summary\n\n{'word ' * 300}\n\n{contract}\n\n### B\n\nShort.\n\n{code}"
    text = pulled("\n\nNone.\n\n", upstream(big), kb=1)
    assert "word …\n>\n> ### API Contract\n>\n> GET /users\n>\n> ### B\n>\n> Short.\n>\n> ### Notes" in text
    assert "\n> ```ini\n> a = 1\n> ```\n>\n> *Cut" in text
    first = f"### Summary\n\nDone.\n\n### B\n\n{'word ' * 300}\n\n{contract}"
    assert "word …\n>\n> ### API Contract\n>\n> GET /users\n>\n> *Cut" in pulled("\n\nNone.\n\n", upstream(first), kb=1)


def test_file_without_inputs_is_refused() -> None:
    """Where there is no such section, the help names its heading."""
    with pytest.raises(TaskstateError, match="there is no section Chain Inputs"):
        chain.with_input(parse(HEAD), upstream(), NOW, Config())


@pytest.mark.parametrize(
    "comment",
    ["input 101 r7 sha256:xyz 2025", "input 101 7 sha256:0123456789abcdef now", "input", "ignore TS904", "input 101"],
)
def test_other_comments_are_none_of_ours(comment: str) -> None:
    """A comment that does not say all of it makes no input."""
    text = f"{HEAD}## 2. Chain Inputs\n\n### From Task #101: x\n\n<!-- taskstate: {comment} -->\n\n> x\n"
    assert chain.inputs_of(parse(text)) == ()
    assert [(each.id, each.is_filled) for each in chain.named_inputs(parse(text))] == [("101", True)]


@pytest.mark.parametrize("title", ["From Alice: remarks", "From task force", "From the design", "Task #101", "From"])
def test_heading_that_names_no_task(title: str) -> None:
    """Only `From Task #…`, or a number, is an id."""
    assert chain.named_inputs(parse(f"{HEAD}## 2. Chain Inputs\n\n### {title}\n\nx\n")) == ()


# Circles


def test_way_through_many_tasks() -> None:
    """A way of thousands of steps is found, and thousands of tasks without one cost no time together."""
    known = DependencyGraph(lambda task: (str(int(task) - 1),) if int(task) else ())
    assert len(known.shortest_path("5000", "0")) == 5001
    assert all(known.shortest_path(str(number - 1), str(number)) == () for number in range(1, 5000))


def test_ids_are_told_as_they_are_written() -> None:
    """Case makes no difference, and is kept."""
    graph = {"a": ("B",), "b": ("C",), "c": ("A",)}
    assert DependencyGraph(lambda task: graph.get(task, ())).shortest_path("b", "a") == ("B", "C", "A")
