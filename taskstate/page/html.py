"""Fills in the templates of the page. What they are given is escaped text; what looks like a secret is masked."""

from __future__ import annotations

from functools import cache, lru_cache

from taskstate import resources
from taskstate.messages import counted
from taskstate.page.links import Links
from taskstate.secrets.mask import masked
from taskstate.syntax.spans import printable
from taskstate.typed import TYPE_CHECKING
from taskstate.views.layout import Screen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jinja2 import Environment

    from taskstate.page.reading import Reading

_FOLDER = "templates/page"
_REMEMBERED, _SHORT = 20_000, 500  # values, and characters of one: most are titles and ids


def filled(template: str, **values: object) -> str:
    """Return the document that a template makes of these values."""
    return _environment().get_template(template).render(**values)


def document(content: str, reading: Reading, values: Mapping[str, object]) -> str:
    """Return a page with the content that a template makes of the values; `title` is among them."""
    known = {"level": 1, "is_wide": False, "here": "", "done": ""}
    known |= {"links": Links(), "reading": reading, "content": content}
    return filled("document", **known | {**values})


def asset(name: str) -> str:
    """Return the text of a style sheet or a script."""
    return resources.text(f"{_FOLDER}/{name}")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    made = Environment(
        loader=FunctionLoader(lambda name: asset(f"{name}.html.j2")),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_clean,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["age"] = _age
    made.filters["counted"] = counted
    return made


def _clean(value: object) -> object:
    """Return what stands for a value in the document; what is HTML already was made of clean text."""
    from markupsafe import Markup

    if value is None or isinstance(value, (Markup, int, float)):
        return value
    text = _as_text(value)
    return _cleaned(text) if len(text) <= _SHORT else printable(masked(text))


def _as_text(value: object) -> str:
    """Return a value as text; what is in a list or a map stands on lines, since a key in pieces is one only so."""
    if isinstance(value, dict):
        return "\n".join(f"{key} {_as_text(each)}" for key, each in value.items())
    return "\n".join(map(_as_text, value)) if isinstance(value, (list, tuple)) else str(value)


@lru_cache(_REMEMBERED)
def _cleaned(text: str) -> str:
    return printable(masked(text))


def _age(since: str, now: str, *, is_live: bool) -> str:
    """Return how long ago a time is, or the time itself in what is read later."""
    return Screen(now, is_live=is_live).age(since)
