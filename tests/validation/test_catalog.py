"""The catalogue of schemas that editors and schema stores read."""

from __future__ import annotations

import json
from fnmatch import fnmatch

import pytest

from taskstate import resources
from taskstate.model.names import own_file

SCHEMAS = resources.path("schemas/catalog.json").parent.glob("*.schema.json")
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
        ("phase-2a-progress.json", "phase"),
        ("TASK-0824.task.yaml", "task-file"),
        ("taskstate.toml", "config"),
    ],
)
def test_the_names_of_our_files_are_matched(name: str, schema: str) -> None:
    """A file that the tool takes for its own is matched by its schema, and by no other."""
    assert own_file(name) or schema in {"handoff", "task-file", "config"}
    matched = [each["url"] for each in ENTRIES if any(fnmatch(name, pattern) for pattern in each["fileMatch"])]
    assert matched == [f"{schema}.schema.json"]


def test_every_schema_of_a_whole_file_is_in_the_catalogue() -> None:
    """Only what stands in a fence is not, since no name of a file tells it; nothing is there twice."""
    in_fences = {"checklist", "citations", "validation"}
    listed = [each["url"].removesuffix(".schema.json") for each in ENTRIES]
    assert sorted(listed) == sorted({path.name.removesuffix(".schema.json") for path in SCHEMAS} - in_fences)
    assert len({each["name"] for each in ENTRIES}) == len(ENTRIES)


def test_the_catalogue_has_the_form_that_schema_stores_take() -> None:
    """Each entry has exactly name, description, names of files and place; the patterns are relative and match files."""
    catalogue = json.loads(resources.text("schemas/catalog.json"))
    assert (catalogue["$schema"], catalogue["version"]) == ("https://json.schemastore.org/schema-catalog.json", 1)
    for entry in ENTRIES:
        assert list(entry) == ["name", "description", "fileMatch", "url"]
        assert entry["description"].endswith(".")
        assert entry["fileMatch"]
        assert not any(pattern.startswith("/") or pattern.endswith("/") for pattern in entry["fileMatch"])
