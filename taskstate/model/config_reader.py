"""Reads `taskstate.toml` or the table `[tool.taskstate]` of `pyproject.toml` into the records of `config`.

`schemas/config.schema.json` says what is allowed; a mistake is one error that names the file, the key and the expected
value. Text in, `Config` out; `workspace` finds the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from taskstate.errors import TaskstateError
from taskstate.model.config import ALL_AREAS, Config
from taskstate.syntax.toml_input import read_toml
from taskstate.typed import TYPE_CHECKING
from taskstate.version import VERSION

if TYPE_CHECKING:
    from typing import Any


_VERSION = r"[0-9]{1,6}([.][0-9]{1,6}){0,2}"


def parse_config(text: str, name: str) -> Config | None:
    """Return the configuration in the TOML `text` of the file `name`, or None where a `pyproject.toml` holds none.

    Raises:
        TaskstateError: code "config": it is no TOML, or a key or value is wrong; the message names the place.
    """
    shared = name.replace("\\", "/").rpartition("/")[2] == "pyproject.toml"
    if shared and "taskstate" not in text:
        return None
    if not _has_settings(text):  # `init` writes comments only, and importing the parser and the schema slows each start
        return None if shared else Config()
    document = _parse_toml(text, name)
    if not shared:
        return read_config(document, name)
    tools = document.get("tool")
    table = tools.get("taskstate") if isinstance(tools, dict) else None
    return None if table is None else read_config(table, f"{name} [tool.taskstate]")


def read_config(mapping: object, source: str) -> Config:
    """Return the configuration in a `mapping` read from TOML; `source` names it in messages.

    Raises:
        TaskstateError: code "config": it asks for a newer version, does not meet the schema, names an export for an
            unknown role, has checks for an area `all`, or allows every secret.
    """
    if isinstance(mapping, Mapping):
        _require_version(mapping.get("required-version"), source)  # first: a newer version may know other keys
    from taskstate.validation.schema_compiler import (
        is_valid,  # not `schema`, which is slow to import: this runs at each start
    )

    if not is_valid(mapping, "config"):
        raise _schema_error(mapping, source)
    config: Config = _converted(mapping, Config)
    _require_roles(config, source)
    _require_area(config, source)
    _require_narrow(config.secrets.allow, source)
    return config._replace(root="/".join(part for part in config.root.split("/") if part not in {"", "."}))


def _require_version(wanted: object, source: str) -> None:
    if isinstance(wanted, str) and re.fullmatch(_VERSION, wanted) and _numbers(wanted) > _numbers(VERSION):
        message = f"{source}: `required-version` is {wanted}, and this is taskstate {VERSION}"
        raise _config_error(message, "install that version, or a newer one")


def _numbers(version: str) -> list[int]:
    numbers = [int(each) for each in re.findall("[0-9]+", version)]
    return [*numbers, 0, 0][:3]


def _has_settings(text: str) -> bool:
    """Return whether TOML holds more than comments; text that is not plain ASCII is left to the parser to judge."""
    lines = (line.strip(" \t\r") for line in text.removeprefix("\ufeff").split("\n"))
    return (
        not text.isascii()
        or not text.replace("\r\n", "").replace("\n", "").isprintable()
        or any(line and not line.startswith("#") for line in lines)
    )


def _parse_toml(text: str, name: str) -> dict[str, Any]:
    try:
        return read_toml(text)
    except ValueError as error:
        raise _config_error(f"{name} is not valid TOML: {error}", "correct it") from error


def _schema_error(mapping: object, source: str) -> TaskstateError:
    from taskstate.validation.schema_errors import find

    first, *others = find(mapping, "config")
    more = f" (and {len(others)} more)" if others else ""
    advice = "add it" if first.keyword == "required" else "correct it, or leave it out for the default"
    return _config_error(f"{source}: {first.message}{more}", "" if first.suggestion else advice)


def _converted(value: Any, kind: Any) -> Any:  # noqa: ANN401 - any value that meets the schema, and the type of its field
    """Convert a valid value to the type of its field: tables to records, lists to tuples, 75.0 to 75."""
    from typing import get_args, get_origin, get_type_hints

    origin, inner = get_origin(kind), get_args(kind)
    if origin is tuple:
        return tuple(_converted(each, inner[0]) for each in value)
    if origin is Mapping:
        return {key: _converted(each, inner[1]) for key, each in value.items()}
    if isinstance(value, dict):
        fields, kinds = {key.replace("-", "_"): each for key, each in value.items()}, get_type_hints(kind)
        return kind(**{name: _converted(each, kinds[name]) for name, each in fields.items()})
    return kind(value)


def _require_roles(config: Config, source: str) -> None:
    for role in config.export:
        if role not in config.roles:
            from taskstate.validation.schema_errors import json_path, nearest

            suggestion = nearest(role, config.roles)
            problem = f"{source}: `{json_path(('export', role))}` names a role that there is not"
            raise _config_error(
                problem, f"did you mean {suggestion}?" if suggestion else f"there are {', '.join(config.roles)}"
            )


def _require_area(config: Config, source: str) -> None:
    """Refuse checks for an area that is called `all`: who writes that means every area, and nothing would be run."""
    if "all" in config.validation:
        problem = f"{source}: `validation.all` would count only for tasks whose area is called all"
        raise _config_error(problem, f'write "{ALL_AREAS}" = [...] for tasks of every area')


def _require_narrow(allow: tuple[str, ...], source: str) -> None:
    """Refuse patterns that switch the search for secrets off; `doctor` and the first write name all others."""
    if allow:
        from taskstate.validation.linear_patterns import match_everything

        if match_everything(allow):
            each = next((index for index, pattern in enumerate(allow) if match_everything((pattern,))), None)
            key = "`secrets.allow` matches" if each is None else f"`secrets.allow[{each}]` matches"
            raise _config_error(f"{source}: {key} any value, so no secret would be found", "name what the values have")


def _config_error(problem: str, advice: str) -> TaskstateError:
    return TaskstateError(problem, code="config", help=advice)
