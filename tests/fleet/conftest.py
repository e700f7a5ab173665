"""The command line in this very process, as `tests/cli` has it."""

from __future__ import annotations

from tests.cli.conftest import cli, place

__all__ = ["cli", "place"]
