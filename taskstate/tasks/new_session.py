"""A session to append: its texts by the table of `model/session_texts.py`, and the entry that they become."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.model.session_texts import BY, SESSION_TEXTS
from taskstate.syntax import escaping
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.spans import with_newlines
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from taskstate.model.progress_log import Session
    from taskstate.model.session_texts import SessionText
    from taskstate.syntax.document import Document

_LINE = 144  # characters in which several values of a text stand on its label's line


class NewSession:
    """The content of a session to append: `did`, `state`, `next`, and whatever else the table of texts has by key.

    Each text may have several lines and any Markdown. Texts that the table calls repeated are given as tuples.
    """

    __slots__ = ("texts", "values")

    def __init__(self, texts: Sequence[SessionText] = SESSION_TEXTS, /, **values: str | Sequence[str]) -> None:
        missing = [text.key for text in texts if text.required and text.key not in values]
        if missing:
            raise TypeError(f"a session says {' and '.join(missing)}, too")
        self.texts = texts
        self.values = {text.key: _checked(text, values.pop(text.key, () if text.repeated else "")) for text in texts}
        if values:
            raise TypeError(f"a session has no {' and no '.join(values)}")

    def __getattr__(self, key: str) -> Any:  # noqa: ANN401 - a text, or a tuple of them, as its row says
        if key in NewSession.__slots__ or key not in self.values:  # the slots are empty while `copy` builds one
            raise AttributeError(f"a session has no {key}")
        return self.values[key]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NewSession) and self.values == other.values

    def __hash__(self) -> int:
        return hash(tuple(self.values.items()))

    def __repr__(self) -> str:
        return f"NewSession({', '.join(f'{key}={value!r}' for key, value in self.values.items())})"

    def _replace(self, **changes: str | Sequence[str]) -> NewSession:
        return NewSession(self.texts, **{**self.values, **changes})


def _checked(text: SessionText, value: str | Sequence[str]) -> str | tuple[str, ...]:
    if isinstance(value, str) == text.repeated:
        raise TypeError(f"{text.key} is {'several texts' if text.repeated else 'one text'}, not {value!r}")
    return value if isinstance(value, str) else tuple(value)


def entry_of(session: NewSession, number: int, time: str) -> str:
    """Return the entry of a session in canonical form, with LF line ends.

    Raises:
        TaskstateError: code "empty": something that every session says is missing; or as `escaping.item` does.
    """
    parts = (_part(text, session.values[text.key]) for text in session.texts)
    return "\n\n".join((f"### Session {number} - {time}", *filter(None, parts)))


def completed(document: Document, told: Iterable[tuple[Session, Mapping[str, Sequence[str]]]]) -> str:
    """Return the text of a file in which some of its sessions say more, given by the keys of the texts.

    Their own words stay as they are, and what they say already is not said again; of whom one is by is told only where
    it does not say that.
    """
    edits = (each for session, more in told for each in _completing(session, more))
    return apply(document.text, [each._replace(new=with_newlines(each.new, document.newline)) for each in edits])


def _completing(session: Session, more: Mapping[str, Sequence[str]]) -> list[Edit]:
    edits, parts = list[Edit](), list[str]()
    for text in SESSION_TEXTS:
        field, said = session.fields.get(text.field), session.values(text)
        given = tuple(value for value in more.get(text.key, ()) if value not in said)
        if not given or (field and (text is BY or field.more)):
            continue
        if field:
            edits.append(Edit(field.label_span.start, field.span.end, _part(text, (*said, *given))))
        elif text is BY:
            first = min((each.label_span.start for each in session.fields.values()), default=session.span.end)
            edits.append(Edit(first, first, f"{_part(text, given)}\n\n"))
        else:
            parts.append(f"\n\n{_part(text, given)}")
    return [*edits, Edit(session.span.end, session.span.end, "".join(parts))]


def _part(text: SessionText, value: str | tuple[str, ...]) -> str:
    values = ((value,) if value or text.required else ()) if isinstance(value, str) else value
    if text.commits:
        values = tuple(_commit(each, text.what) for each in values)
    line = "; ".join(values)
    is_short = len(values) == 1 or (len(line) <= _LINE and text.values_in(line) == values)
    if values and is_short and (line := escaping.label_line(line, what=text.what)):
        return f"**{text.label}:** {line}"
    if values:
        return f"**{text.label}:**\n\n{escaping.items(values, what=text.what)}"
    if text.required:
        help_ = f"every session says something under **{text.label}:**"
        raise TaskstateError(f"{text.what} is missing", help=help_, code="empty")
    return ""


def _commit(value: str, what: str) -> str:
    commit, blank, subject = escaping.one_line(value, what=what).partition(" ")
    return value if commit.startswith("`") else f"`{commit}`{blank}{subject}"
