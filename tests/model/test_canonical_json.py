from __future__ import annotations

import json

from hypothesis import given

from taskstate.model.canonical_json import SEALED_KEYS, audit_seal, canonical_json, sha256
from tests.support.data_strategies import yaml_values


@given(value=yaml_values)
def test_canonical_json_is_that_of_the_standard_library(value: object) -> None:
    """Any program writes the same with its own JSON library, which is how a seal is checked elsewhere."""
    assert canonical_json(value) == json.dumps(value, sort_keys=True, ensure_ascii=False, indent=2) + "\n"


def test_canonical_json_is_the_same_for_the_same_value() -> None:
    """Keys are sorted, letters stand as they are, two spaces indent, one LF ends."""
    assert canonical_json({"b": [1, None], "a": {"é": True}}) == (
        '{\n  "a": {\n    "é": true\n  },\n  "b": [\n    1,\n    null\n  ]\n}\n'
    )


def test_sha256_is_that_of_the_bytes() -> None:
    """A text's hash is that of its UTF-8, as `sha256sum` prints it."""
    assert sha256("é\n") == "edd3a863872a04239eb29ad4bc12fc892b3d4ae57cc7e786a3697816f8e141c2"


def test_the_seal_covers_the_blocks_that_only_the_tool_writes() -> None:
    """Any other key may change; each sealed block, and the events of the audit, may not."""
    front_matter = {"title": "x", "baseline": {"status": "pending"}, "audit": {"events": [1], "updated_by": "me"}}
    seal = audit_seal(front_matter)
    assert seal == "ddb127592948fe733d5dd976e405ff8a651c1d6b90b1f99157df671ea1f76670"
    assert audit_seal(front_matter | {"title": "y", "audit": {"events": [1]}}) == seal
    assert audit_seal(front_matter | {"audit": {"events": [2]}}) != seal
    assert all(audit_seal(front_matter | {key: "other"}) != seal for key in SEALED_KEYS)


def test_the_seal_of_nothing_is_that_of_an_empty_object() -> None:
    """A file without any sealed block has a seal too, also where `audit` is no mapping or has no events."""
    empty = "ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356"
    assert audit_seal({}) == audit_seal({"audit": 3}) == audit_seal({"audit": {"update_count": 1}}) == empty
