"""What `make check` runs stays within its time."""

from __future__ import annotations

from scripts.quick import BUDGET, recorded, written_in


def test_the_quick_tests_stay_within_their_budget() -> None:
    """The parts exist, and take no more than the budget if the tests that came since take as long as those before."""
    parts = recorded()
    now = {path: written_in(path) for path in parts}
    assert all(now.values()), "take a part that is gone out of tests/quick.json"
    seconds = sum(part.seconds * max(now[path] / part.tests, 1) for path, part in parts.items())
    assert seconds <= BUDGET, (
        "`.venv/bin/python -m scripts.quick --update` measures again; then mark dear tests as slow, "
        "or take a part out of tests/quick.json"
    )
