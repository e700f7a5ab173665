from __future__ import annotations

from taskstate.model.roles import pipeline


def test_roles_are_the_configured_ones_and_those_of_the_file() -> None:
    """The configured roles come first, then those that the file alone names; keys of one's own are no roles."""
    values = {"coordination": {"tester": {"status": "done"}, "x-mine": {"status": "done"}, "reviewer": {}}}
    found = [(role.name, role.status) for role in pipeline(values, ("implementer", "reviewer"))]
    assert found == [("implementer", "pending"), ("reviewer", "pending"), ("tester", "done")]
