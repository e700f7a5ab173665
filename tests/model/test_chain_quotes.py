from __future__ import annotations

import pytest

from taskstate.model.chain_quotes import unquoted


@pytest.mark.parametrize(
    ("quote", "text"),
    [("> a\n>\n> b", "a\n\nb"), (">  a\r\n> b", " a\nb"), (">by hand\n> b", "by hand\nb"), (">", ""), ("> ", "")],
)
def test_quote_gives_its_text_back(quote: str, text: str) -> None:
    """Of each line the mark goes, with one blank behind it where there is one."""
    assert unquoted(quote) == text
