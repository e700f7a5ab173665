"""The catalogue of schemas that editors and schema stores read."""

from __future__ import annotations

import json
from fnmatch import fnmatch

import pytest

from taskstate import resources
from taskstate.model.names import own_file

ENTRIES = json.loads(resources.text("schemas/catalog.json"))["schemas"]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["url"])
def test_an_entry_leads_to_a_schema_with_a_stable_id(entry: dict[str, str]) -> None:
    """The schema is there, and its id names the version of the format and not a place, so that it never changes."""
    found = json.loads(resources.text(f"schemas/{entry['url']}"))
    assert found["$id"] == f"urn:taskstate:schema:1:{entry['url'].removesuffix('.schema.json')}"
    assert entry["name"]
    assert entry["description"]


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("task-101-state.md", "task"),
        ("phase-1-handoff-20260205T164000Z.md", "handoff"),
        ("task-9-impact-map.json", "impact-map"),
    ],
)
def test_the_names_of_our_files_are_matched(name: str, schema: str) -> None:
    """A file that the tool takes for its own is matched by its schema, and by no other."""
    assert own_file(name) or schema == "handoff"
    matched = [each["url"] for each in ENTRIES if any(fnmatch(name, pattern) for pattern in each["fileMatch"])]
    assert matched == [f"{schema}.schema.json"]
