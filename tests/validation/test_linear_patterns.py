"""Regular expressions from a configuration: linear in time, or refused."""

from __future__ import annotations

import pytest

from taskstate.errors import TaskstateError
from taskstate.model.config_reader import read_config
from taskstate.qa.log_parser import read_log
from taskstate.secrets import scan
from taskstate.validation import linear_patterns

HOSTILE = (r"(a+)+b", r"(a|a)*b", r"(a|aa)+$x", r"(.*a){20}b", r"([a-zA-Z]+)*\d!")


@pytest.mark.parametrize("pattern", HOSTILE)
def test_no_pattern_takes_long(pattern: str) -> None:
    """Patterns that a backtracking engine never finishes are done at once, for secrets and for logs."""
    value = "a" * 900
    assert not linear_patterns.matches(pattern, value)
    text = f'password = "{value}Z9k7"'
    scan.find(text, (pattern,))
    config = read_config({"qa": [{"name": "x", "pattern": f"(?P<text>{pattern})"}]}, "taskstate.toml")
    assert read_log(f"{value}\n".encode(), config.qa) == {}


@pytest.mark.parametrize("pattern", [r"(?=a)b", r"(?<!a)b", r"(a)\1", r"a\Z", "(a{1000}){1000}", "(", "a" * 1001])
def test_what_cannot_run_in_linear_time_is_refused(pattern: str) -> None:
    """Look-around, back-references, and patterns that are too large are errors when the configuration is read."""
    for table in ({"secrets": {"allow": [pattern]}}, {"qa": [{"name": "x", "pattern": f"(?P<text>{pattern})"}]}):
        with pytest.raises(TaskstateError) as refused:
            read_config(table, "taskstate.toml")
        assert refused.value.code == "config"


@pytest.mark.parametrize("table", [{"exclude": ["[" * 40_000]}, {"exclude": ["a"] * 1001}])
def test_globs_are_bounded(table: dict[str, object]) -> None:
    """A glob of tens of thousands of brackets would take quadratic time, and so is refused."""
    with pytest.raises(TaskstateError) as refused:
        read_config(table, "taskstate.toml")
    assert refused.value.code == "config"


def test_what_matches_is_allowed() -> None:
    """A value that a pattern matches is no secret; text that is not UTF-8 is searched, too."""
    text = 'password = "Zk7vQ2mXp9Lw"'
    assert scan.find(text)
    assert not scan.find(text, ("^Zk7",))
    assert linear_patterns.matches("b$", "\udcffb")


def test_a_pattern_that_takes_much_memory_is_refused() -> None:
    """A hundred of them in a cloned configuration would make each command wait for seconds."""
    assert "is no regular expression of RE2" in linear_patterns.problem(r"x[\pL]{200}")
    assert linear_patterns.problem(r"[\pL]{20}") == linear_patterns.problem(r".{1,200}") == ""
