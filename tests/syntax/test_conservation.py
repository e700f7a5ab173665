"""What was taken over into another document is looked for line by line, and one that is missing is named."""

from __future__ import annotations

import pytest

from taskstate.errors import TaskstateError
from taskstate.syntax.conservation import content_lines, demoted, require_conserved
from taskstate.syntax.document import parse

SOURCE = """\
# A title

## 2. Risks
* one
- two
- two

---

```json
{"a": [1, {"b": true}], "c": null, "d": "x  y"}
```
"""


def lines(text: str) -> list[str]:
    """Return the lines with content of a text."""
    return [*content_lines(parse(text))]


def test_layout_does_not_count() -> None:
    """Levels and numbers of headings, list markers, rules, blanks, and the layout of JSON."""
    other = (
        '### a title\n\n#### Risks\n\n- one\n-  two\n- two\n```json\n{\n  "a": [1,\n{"b": true}],\n"d": "x  y"}\n```\n'
    )
    assert sorted(lines(SOURCE)) == sorted(lines(other))
    require_conserved("a.md", lines(SOURCE), lines(other))


@pytest.mark.parametrize("lost", ["# A title", "## 2. Risks", "* one", "- two\n", "1, ", '"b": true', '"x  y"'])
def test_a_line_that_is_gone_is_named(lost: str) -> None:
    """Also one of two that are equal, and a value within JSON."""
    assert lost in SOURCE
    shorter = SOURCE.replace(lost, '""' if lost.startswith('"x') else "", 1)
    with pytest.raises(
        TaskstateError, match=r"a\.md cannot be taken over, since these lines would get lost: "
    ) as raised:
        require_conserved("a.md", lines(SOURCE), lines(shorter))
    assert raised.value.code == "unsafe"


def test_headings_move_by_levels_and_not_above_the_least() -> None:
    """In a fence there are none."""
    text = "# a\n\n###### b\n\n```\n# c\n```\n"
    assert demoted(text, 2) == "### a\n\n###### b\n\n```\n# c\n```\n"
    assert demoted(text, -3, least=2) == "## a\n\n### b\n\n```\n# c\n```\n"
