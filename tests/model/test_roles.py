from __future__ import annotations

from taskstate.model.roles import pipeline
from taskstate.model.tool_blocks import read_tool_blocks


def test_roles_are_the_configured_ones_and_those_of_the_file() -> None:
    """The configured roles come first, then those that the file alone names; keys of one's own are no roles."""
    coordination = {"tester": {"status": "done"}, "x-mine": {"status": "done"}, "reviewer": {}}
    blocks = read_tool_blocks({"coordination": coordination})
    found = [(role.name, role.status) for role in pipeline(blocks, ("implementer", "reviewer"))]
    assert found == [("implementer", "pending"), ("reviewer", "pending"), ("tester", "done")]
