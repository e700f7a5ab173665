from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from taskstate.validation.occurrences import occurrences

if TYPE_CHECKING:
    from typing import Any

PARTS = ("a", "b", "ab", "aa", "é", "token", "\u200b")
WORDS = st.lists(st.sampled_from(PARTS), min_size=1, max_size=6).map("".join)


@given(st.sets(WORDS, min_size=20, max_size=40), st.lists(WORDS | st.just("\n"), max_size=60).map("".join))
def test_many_values_are_counted_as_one_is(values: set[str], text: str) -> None:
    """Each value is counted as `str.count` counts it, also where values overlap themselves or each other."""
    assert +occurrences(values, text) == +Counter({value: text.count(value) for value in values})


def test_values_of_several_lines_are_found_quoted() -> None:
    """A key of several lines counts also where it is indented or quoted."""
    key = "begin\nabc\nend"
    quoted = "> begin\n>   abc\n> end"
    assert occurrences({key, "abc"}, f"{key}\n\n{quoted}") == {key: 2, "abc": 2}


class _Counted(str):
    """A text that counts how often it is searched."""

    __slots__ = ("searches",)

    def count(self, *given: Any) -> int:  # noqa: ANN401 - as a text has it
        """Count, as a text does."""
        self.searches: int = getattr(self, "searches", 0) + 1
        return super().count(*given)


def test_the_text_is_not_searched_for_each_value() -> None:
    """However many values there are, the text is not searched from its beginning for each of them."""
    values = {f"value-{number:06}" for number in range(2_000)}
    text = _Counted(" ".join(values))
    text.searches = 0
    assert sum(occurrences(values, text).values()) == len(values)
    assert text.searches < 10
