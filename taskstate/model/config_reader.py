"""Reads `taskstate.toml` or the table `[tool.taskstate]` of `pyproject.toml` into the records of `config`.

Every mistake is one error that names the file, the key and what should stand there. Text in, `Config` out; finding the
file is the job of `workspace`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from taskstate.errors import TaskstateError
from taskstate.model.config import (
    EXPORT_FIELDS,
    Archive,
    Chain,
    Config,
    Export,
    Handoff,
    Lint,
    Permanent,
    QaReader,
    Secrets,
    Size,
    Standard,
)

_BARE_KEY = r"[A-Za-z0-9_-]+"
_NAME = r"[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*"
_SELECTOR = r"TSP?[0-9]{0,3}"
_SHOWN = 60


class _At(NamedTuple):
    """A place in a configuration, for messages."""

    source: str
    key: str = ""

    def at(self, step: str | int) -> _At:
        """Return the place of a key or an index below this one."""
        if isinstance(step, int):
            return _At(self.source, f"{self.key}[{step}]")
        shown = step if re.fullmatch(_BARE_KEY, step) else repr(step)
        return _At(self.source, f"{self.key}.{shown}" if self.key else shown)

    def refuse(self, problem: str, help_: str = "correct it, or leave it out for the default") -> TaskstateError:
        """Return the error that says what is wrong here."""
        where = f"{self.source}: {self.key}" if self.key else self.source
        return TaskstateError(f"{where} {problem}", code="config", help=help_)

    def must_be(self, what: str, value: object) -> TaskstateError:
        """Return the error that says what should stand here instead of `value`."""
        shown = repr(value)
        return self.refuse(f"must be {what}, not {shown if len(shown) <= _SHOWN else f'{shown[:_SHOWN]}…'}")


_Reader: TypeAlias = Callable[[object, _At], Any]


def parse_config(text: str, name: str) -> Config | None:
    """Return the configuration in the TOML `text` of the file `name`, or None where a `pyproject.toml` holds none.

    Raises:
        TaskstateError: code "config": it is no TOML, or a key or value is wrong; the message names the place.
    """
    shared = re.split(r"[/\\]", name)[-1] == "pyproject.toml"
    if shared and "taskstate" not in text:
        return None
    document = _parse_toml(text, name) if _says_something(text) else {}  # `init` writes comments; importing costs
    if not shared:
        return read_config(document, name)
    tools = document.get("tool")
    table = tools.get("taskstate") if isinstance(tools, Mapping) else None
    return None if table is None else read_config(table, f"{name} [tool.taskstate]")


def _says_something(text: str) -> bool:
    """Return whether a line of TOML is no comment; what cannot stand in one is for the parser to tell."""
    lines = (line.strip(" \t\r") for line in text.removeprefix("\ufeff").split("\n"))
    return (
        not text.isascii()
        or not text.replace("\r\n", "").replace("\n", "").isprintable()
        or any(line and not line.startswith("#") for line in lines)
    )


def read_config(mapping: object, source: str) -> Config:
    """Return the configuration that the loose `mapping` holds; `source` is how messages call it.

    Raises:
        TaskstateError: code "config": a key is unknown, or a value is of the wrong type or out of range.
    """
    at = _At(source)
    config: Config = _CONFIG(mapping, at)
    for role in config.export:
        if role not in config.roles:
            raise at.at("export").at(role).refuse("names a role that there is not", _instead(role, config.roles))
    return config


def _parse_toml(text: str, name: str) -> Mapping[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except RecursionError as error:
        raise _At(name).refuse("is nested too deeply", "correct it") from error
    except ValueError as error:
        raise _At(name).refuse(f"is not valid TOML: {error}", "correct it") from error


def _instead(word: str, known: tuple[str, ...]) -> str:
    """Return the advice for a word that is not known: the nearest known one, or all of them."""
    from difflib import get_close_matches

    near = get_close_matches(word, known, n=1)
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"


def _whole(least: int) -> _Reader:
    def read(value: object, at: _At) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise at.must_be(f"a whole number of at least {least}", value)
        return value

    return read


def _flag(value: object, at: _At) -> bool:
    if not isinstance(value, bool):
        raise at.must_be("true or false", value)
    return value


def _string(value: object, at: _At) -> str:
    if not isinstance(value, str):
        raise at.must_be("a string", value)
    return value


def _full(value: object, at: _At) -> str:
    if not isinstance(value, str) or not value.strip():
        raise at.must_be("a string with something in it", value)
    return value


def _matching(pattern: str, what: str) -> _Reader:
    def read(value: object, at: _At) -> str:
        if not isinstance(value, str) or not re.fullmatch(pattern, value):
            raise at.must_be(what, value)
        return value

    return read


def _one_of(*words: str) -> _Reader:
    def read(value: object, at: _At) -> str:
        if not isinstance(value, str) or value not in words:
            raise at.must_be(f"one of {', '.join(words)}", value)
        return value

    return read


def _folder(value: object, at: _At) -> str:
    """Read the name of a folder inside the repository, in its plain form."""
    name = _string(value, at)
    parts = [part for part in name.split("/") if part not in {"", "."}]
    outside = name.startswith("/") or not {"..", ".git"}.isdisjoint(part.casefold() for part in parts)
    if outside or not name.strip("./") or "\\" in name or ":" in name or not name.isprintable():
        raise at.must_be("the name of a folder inside the repository", value)
    return "/".join(parts)


def _regex(value: object, at: _At) -> str:
    try:
        re.compile(_full(value, at))
    except (re.error, RecursionError, OverflowError) as error:
        said = str(error).encode("unicode_escape").decode()  # it may quote what a terminal would act on
        raise at.refuse(f"is not a regular expression: {said}") from error
    return str(value)


def _qa_name(value: object, at: _At) -> str:
    from taskstate.model.names import is_name

    if not isinstance(value, str) or not is_name(value):
        raise at.must_be("the name of a result: letters and digits, joined by single . _ or -, and not x-", value)
    return value


def _qa_pattern(value: object, at: _At) -> str:
    if "text" not in re.compile(_regex(value, at)).groupindex:
        raise at.must_be("a regular expression with a group (?P<text>…)", value)
    return str(value)


def _list_of(reader: _Reader, *, least: int = 0, distinct: bool = False) -> _Reader:
    def read(value: object, at: _At) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise at.must_be("a list", value)
        items = tuple(reader(item, at.at(index)) for index, item in enumerate(value))
        if len(items) < least:
            raise at.refuse("must not be empty")
        if distinct and len(set(items)) < len(items):
            raise at.must_be("a list without repetitions", value)
        return items

    return read


def _table_of(reader: _Reader, key: _Reader = _full) -> _Reader:
    def read(value: object, at: _At) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise at.must_be("a table", value)
        return {key(name, at.at(name)): reader(item, at.at(name)) for name, item in value.items()}

    return read


def _part(make: Callable[..., Any], readers: Mapping[str, _Reader], required: tuple[str, ...] = ()) -> _Reader:
    """Return the reader of a table with fixed keys, whose names in Python have `_` where the file has `-`."""

    def read(value: object, at: _At) -> Any:  # noqa: ANN401 - whatever `make` makes
        if not isinstance(value, Mapping):
            raise at.must_be("a table", value)
        fields = {}
        for name, item in value.items():
            if name not in readers:
                raise at.at(name).refuse("is not a key that taskstate knows", _instead(name, tuple(readers)))
            fields[name.replace("-", "_")] = readers[name](item, at.at(name))
        for name in required:
            if name not in value:
                raise at.at(name).refuse("is missing", "add it")
        return make(**fields)

    return read


_PLAIN_NAME = _matching(_NAME, "a name of letters and digits, joined by . _ or -")
_SELECTORS = _list_of(_matching(_SELECTOR, "a rule's code or the beginning of one, such as TS4"))
_STRINGS = _list_of(_full)

_CONFIG = _part(
    Config,
    {
        "root": _folder,
        "exclude": _STRINGS,
        "roles": _list_of(_PLAIN_NAME, least=1, distinct=True),
        "lint": _part(
            Lint,
            {
                "select": _SELECTORS,
                "ignore": _SELECTORS,
                "extend-select": _SELECTORS,
                "per-file-ignores": _table_of(_SELECTORS),
                "severity": _table_of(
                    _one_of("error", "warning"), _matching(_SELECTOR, "a rule's code or the beginning of one")
                ),
                "require-command-evidence": _flag,
            },
        ),
        "size": _part(
            Size,
            {
                "warn-kb": _whole(1),
                "max-kb": _whole(1),
                "warn-tokens": _whole(0),
                "max-tokens": _whole(0),
                "keep-sessions": _whole(1),
                "max-sessions": _whole(1),
            },
        ),
        "standards": _list_of(
            _part(
                Standard,
                {
                    "area": _full,
                    "priority": _list_of(_one_of("P0", "P1", "P2", "P3"), least=1, distinct=True),
                    "cite": _list_of(_full, least=1),
                },
                required=("cite",),
            )
        ),
        "validation": _table_of(_STRINGS),
        "scope": _table_of(_STRINGS, _PLAIN_NAME),
        "export": _table_of(_part(Export, {"drop": _list_of(_one_of(*EXPORT_FIELDS))})),
        "secrets": _part(Secrets, {"allow": _list_of(_regex)}),
        "qa": _list_of(_part(QaReader, {"name": _qa_name, "pattern": _qa_pattern}, required=("name", "pattern"))),
        "chain": _part(Chain, {"max-input-kb": _whole(1)}),
        "permanent": _part(Permanent, {"writers": _STRINGS}),
        "archive": _part(Archive, {"summarizer": _string}),
        "handoff": _part(Handoff, {"max-lines": _whole(1), "max-kb": _whole(1), "minimum-progress": _flag}),
    },
)
