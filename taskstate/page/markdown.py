"""Makes HTML of the Markdown of a file, which is not to be trusted: HTML in it stays text, and nothing is fetched.

markdown-it writes only the tags that are listed here; nh3, which knows nothing of Markdown, looks at what came out once
more.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache, lru_cache
from urllib.parse import unquote

from taskstate.model.names import own_file
from taskstate.page.links import Links
from taskstate.secrets.mask import masked
from taskstate.syntax.spans import printable, with_newlines
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token
    from markupsafe import Markup

_MOST = 75_000  # characters: of a longer text the beginning is shown, as text alone
_MOST_LINES = 20_000  # times how deep they are nested, or how many columns there are, which costs time as the square
_MOST_DEEP = 40  # lists and quotes in one another
_MOST_MASKED = 500_000
_MOST_PARAGRAPH = 8_000  # characters: what opens many brackets costs time by the square of its length
_REMEMBERED = 64  # texts of files, each at most that long
_TAGS = {
    *(
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "p",
        "br",
        "hr",
        "blockquote",
        "ul",
        "ol",
        "li",
        "pre",
        "code",
        "em",
        "strong",
    ),
    *("s", "a", "table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {"a": {"href"}, "ol": {"start"}, **{f"h{level}": {"id"} for level in range(1, 7)}}
_FOCUSED = {"pre": {"tabindex": "0"}}  # they scroll by themselves, which the keyboard must reach
_LAST_LEVEL = 6
_NESTED = r"(?m)^ *(?:(?:>|(?:[-+*]|\d{1,9}[.)])(?![^ \n])) *)+"  # how a line begins that is in quotes and lists
_DELIMITERS = r"(?m)^[ >:|+*-]+$"
_ELSEWHERE = r"(?i)https?://[^/?#\s]|mailto:."


@lru_cache(_REMEMBERED)
def rendered(text: str, prefix: str = "", *, depth: int = 2, is_file: bool = False) -> Markup:
    """Return a text as HTML, with its headings so many levels deeper, and its places named with a prefix.

    In a document that `is_file`, links to tasks lead to places in it.
    """
    import nh3
    from markupsafe import Markup

    clean = printable(masked(with_newlines(text[:_MOST_MASKED], "\n")))
    if _is_costly(clean):
        from markupsafe import escape

        why = "It is too long, too wide or too deep to be drawn: this is how it is written"
        is_cut = len(clean) > _MOST or len(text) > _MOST_MASKED
        told = escape(f"{clean[:_MOST]}\u2026" if is_cut else clean)
        return Markup(f'<p>{why}.</p><pre tabindex="0">{told}</pre>')  # noqa: S704 - escaped just now
    tokens = _markdown().parse(clean)
    _adapt(tokens, prefix, depth, Links(is_file))
    html = _markdown().renderer.render(tokens, _markdown().options, {})
    safe = nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        set_tag_attribute_values=_FOCUSED,
        url_schemes={"http", "https", "mailto"},
        clean_content_tags=set(),
    )
    return Markup(safe)  # noqa: S704 - made of tags in the list alone


def _is_costly(text: str) -> bool:
    """Return whether it would take long to draw a text, or parts of it would be left out."""
    lines = text.count("\n") + 1
    deep = max((len(each) - (each.count(" ") + 1) // 2 for each in re.findall(_NESTED, text.expandtabs(4))), default=0)
    columns = max((each.count("|") for each in re.findall(_DELIMITERS, text)), default=0)
    return len(text) > _MOST or deep > _MOST_DEEP or lines * (1 + max(deep, columns)) > _MOST_LINES


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"html": False, "maxNesting": 3 * _MOST_DEEP}).enable(["table", "strikethrough"])
    # `_inline` decides on every link: one that is refused here would stay Markdown.
    made.core.ruler.before("inline", "long", _keep_long)
    made.validateLink = lambda url: True  # type: ignore[method-assign]  # noqa: ARG005 - named as its callers may
    return made


def _keep_long(state: StateCore) -> None:
    """Keep a paragraph as it is if it is too long to look for markup in it."""
    for token in state.tokens:
        if token.type == "inline" and len(token.content) > _MOST_PARAGRAPH:
            token.type = "text"


def _adapt(tokens: list[Token], prefix: str, depth: int, links: Links) -> None:
    """Move headings down and give them an id; make links and pictures harmless."""
    used: dict[str, int] = {}
    for token, inline in zip(tokens, (*tokens[1:], None), strict=False):
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(int(token.tag[1:]) + depth, _LAST_LEVEL)}"
        if token.type == "heading_open" and inline:
            slug = _slug(inline.content, links)
            used[slug] = used.get(slug, 0) + 1
            token.attrSet("id", prefix + slug + (f"-{used[slug]}" if used[slug] > 1 else ""))
        if token.type == "inline":
            token.children = [*_inline(token.children or [], prefix, links)]


def _inline(tokens: list[Token], prefix: str, links: Links) -> Iterator[Token]:
    """Yield what is inside a paragraph: pictures as words, and of links that may lead nowhere the text alone."""
    from markdown_it.token import Token

    open_links: list[bool] = []
    for token in tokens:
        if token.type == "image":
            yield Token("text", "", 0, content=f"[picture: {token.content}]")
        elif token.type == "link_open":
            target = _target(str(token.attrs.get("href") or ""), prefix, links)
            token.attrs = {"href": target}
            open_links.append(bool(target))
        if token.type == "link_close" and not open_links.pop():
            continue
        if token.type != "image" and not (token.type == "link_open" and not open_links[-1]):
            yield token


def _target(url: str, prefix: str, links: Links) -> str:
    """Return where a link of a file leads: out, to a place in the text, to a task, or nowhere."""
    if re.match(_ELSEWHERE, url):
        return url
    if url.startswith("#"):
        return f"#{prefix}{_slug(unquote(url[1:]), links)}"
    path = unquote(url.partition("#")[0].partition("?")[0])
    own = None if ":" in path or path.startswith("/") else own_file(path.rpartition("/")[2])
    return links.task(own.id) if own and own.id else ""


def _slug(title: str, links: Links) -> str:
    """Return the name of a heading; in a file it tells nothing, since titles may name what is taken out of it."""
    slug = re.sub(r"[^\w]+", "-", title.casefold()).strip("-") or "part"
    return hashlib.sha256(slug.encode()).hexdigest()[:12] if links.is_file else slug
