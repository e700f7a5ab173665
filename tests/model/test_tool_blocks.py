"""Tool-written front matter blocks as records: values that are read, and odd ones that are ignored."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from taskstate.model import roles
from taskstate.model.canonical_json import audit_seal
from taskstate.model.delta_block import Snapshot, read_delta, with_snapshots
from taskstate.model.loose_values import HashedFile
from taskstate.model.statuses import DONE, OF_ROLES, PENDING
from taskstate.model.tool_blocks import (
    Baseline,
    CheckResult,
    Context,
    Event,
    Role,
    SeenState,
    read_seen_state,
    read_tool_blocks,
)
from taskstate.validation import schema
from tests.support.schema_samples import SAMPLES

if TYPE_CHECKING:
    from typing import Any

NAMES = ("implementer", "reviewer", "validator")
TASK: dict[str, Any] = SAMPLES["task"]
BLOCKS = ("context", "baseline", "coordination", "delta", "evidence", "handoffs", "audit")
KEYS = sorted({*BLOCKS, *Context._fields, *Baseline._fields, *Role._fields, *Snapshot._fields, *Event._fields})
# Values as JSON has them, with the keys of the format as often as any others.
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*KEYS, *NAMES, "snapshots", "ok", "x-a"]) | st.text(max_size=3), inner)
    ),
    max_leaves=20,
)
TEXTS = st.none() | st.text()
ROLES = st.fixed_dictionaries(
    {"status": st.sampled_from(OF_ROLES)},
    optional={
        **dict.fromkeys(("completed_at", "qa_log_path", "qa_log_sha256", "session_id"), TEXTS),
        "qa": st.dictionaries(
            st.text().filter(lambda name: not name.startswith("x-")),
            st.fixed_dictionaries({"ok": st.booleans(), "text": st.text()}),
        ),
        "blocking_findings": st.lists(st.text(min_size=1)),
        "drift_budget": st.integers(min_value=0),
        "x-own": JSON,
    },
)
_LISTED = (
    "files_changed",
    "file_list",
    "role",
    "head",
    "start_tree",
    "folder",
    "values",
    "diff_from_base",
    "incremental_diff",
    "record",
    "base_commit",
    "base_tree",
)
SNAPSHOTS = st.fixed_dictionaries(
    {"tree": st.text()},
    optional={
        **dict.fromkeys((key for key in Snapshot._fields if key not in {*_LISTED, "tree"}), TEXTS),
        "x-own": JSON,
    },
)


def texts_of(record: Any, told: dict[str, Any], *other: str) -> bool:  # noqa: ANN401 - any of the records
    """Return whether a record says what a block says, key by key, the fields in `other` aside."""
    return record.values == told and all(
        getattr(record, key) == told.get(key) for key in record._fields if key not in {"values", *other}
    )


@given(st.dictionaries(st.sampled_from(BLOCKS), JSON), JSON)
def test_reading_never_fails(values: dict[str, Any], verified: object) -> None:
    """Whatever a hand has put in their places, the blocks are read, and what is asked of them is answered."""
    blocks = read_tool_blocks(values)
    assert [role.name for role in roles.pipeline(blocks, NAMES)][:3] == list(NAMES)
    assert {role.status for role in blocks.roles.values()} <= {*OF_ROLES}
    assert {*roles.unresolved(blocks)} <= blocks.roles.keys()
    assert isinstance(read_seen_state(verified), SeenState)


@given(st.dictionaries(st.sampled_from(NAMES), ROLES), st.dictionaries(st.sampled_from(NAMES), SNAPSHOTS))
def test_roles_and_snapshots_say_what_is_written(
    coordination: dict[str, dict[str, Any]], snapshots: dict[str, dict[str, Any]]
) -> None:
    """Each key of a role and of a snapshot is found in its record, and the snapshot at its role."""
    blocks = read_tool_blocks({"coordination": coordination, "delta": {"snapshots": snapshots}})
    for name, block in coordination.items():
        role = blocks.role(name)
        assert texts_of(role, block, "name", "all_findings", "budget", "qa", "snapshot", "qa_log_path")
        assert "qa_log_path" not in block or role.qa_log_path == block["qa_log_path"]  # else by the hash
        assert [each.text for each in role.findings] == block.get("blocking_findings", [])
        assert role.budget == block.get("drift_budget", 0)
        assert {key: each._asdict() for key, each in role.qa.items()} == block.get("qa", {})
    for name, block in snapshots.items():
        assert texts_of(blocks.delta.snapshots[name], block, *_LISTED)
        assert blocks.role(name).snapshot == blocks.delta.snapshots[name]


def test_all_of_a_full_front_matter_is_read() -> None:
    """Of a front matter with every key that the schema describes, each block is found in its record."""
    assert schema.faults(TASK, "task") == ()
    blocks = read_tool_blocks(TASK)
    context, baseline, audit, handoffs = (TASK[key] for key in ("context", "baseline", "audit", "handoffs"))
    assert texts_of(blocks.context, context, "sources")
    assert blocks.context.sources == tuple(HashedFile(**each) for each in context["sources"])
    assert texts_of(blocks.baseline, baseline, "results")
    assert blocks.baseline.results == {"tests": CheckResult(ok=True, text="8 passed")}
    assert blocks.delta.base_commit == TASK["delta"]["base_commit"]
    block = TASK["delta"]["snapshots"]
    first, second = (blocks.delta.snapshots[name] for name in ("implementer", "reviewer"))
    lists = [HashedFile(f"artifacts/task-101/a.pack/{name}-files.json", None) for name in ("implementer", "reviewer")]
    assert (first.files_changed, first.file_list) == (tuple(block["implementer"]["files_changed"]), lists[0])
    assert (second.files_changed, second.file_list) == (None, lists[1]._replace(sha256=first.diff_sha))
    assert list(blocks.evidence) == TASK["evidence"]
    assert blocks.handoffs == (handoffs["count"], handoffs["open"])
    assert (blocks.audit.seal, blocks.audit.values) == (audit["seal"], audit)
    assert [(each.at, each.event, each.role, each.entry) for each in blocks.audit.events] == [
        (each["at"], each["event"], each.get("role"), each) for each in audit["events"]
    ]
    verified = SAMPLES["handoff"]["verified"]
    assert texts_of(read_seen_state(verified), verified)


def test_odd_values_count_as_absent() -> None:
    """What has the wrong type says nothing; only a seal that is no text is there, and agrees with nothing."""
    blocks = read_tool_blocks(
        {
            "context": ["a"],
            "coordination": {"implementer": 7, "reviewer": {"status": "late", "drift_budget": "1", "session_id": []}},
            "delta": {"base_commit": 1, "snapshots": {"implementer": "a", "reviewer": {}, "validator": {"tree": 2}}},
            "handoffs": {"count": True, "open": ["a"]},
            "audit": {"update_count": "3", "events": ["a", {"event": "waived", "waived": ["b", 1]}], "seal": 0},
        }
    )
    assert blocks.context == (None, None, None, None, None, (), {})
    assert blocks.role("implementer") == blocks.role("other")._replace(name="implementer")
    assert (blocks.role("reviewer").status, blocks.role("reviewer").budget) == (PENDING, 0)
    assert [(name, each.tree) for name, each in blocks.delta.snapshots.items()] == [("validator", None)]
    assert blocks.handoffs == (0, None)
    assert [(each.event, each.waived) for each in blocks.audit.events] == [(None, None), ("waived", ("b", "1"))]
    assert blocks.edited


def test_seal_says_whether_a_block_was_edited() -> None:
    """A front matter without a seal, or with one that agrees, was not edited by hand; with another one it was."""
    values: dict[str, Any] = {"handoffs": {"count": 1, "open": None}}
    assert not read_tool_blocks(values).edited
    values["audit"] = {"seal": audit_seal(values)}
    assert not read_tool_blocks(values).edited
    assert read_tool_blocks({**values, "handoffs": {"count": 2, "open": None}}).edited


def test_what_is_written_keeps_what_is_not_changed() -> None:
    """Changing roles and snapshots leaves the others, odd ones too, and keys of somebody's own, where they stand."""
    held = {"x-own": 1, "validator": {"status": DONE, "x-a": 2}, "reviewer": 7}
    blocks = read_tool_blocks({"coordination": held, "delta": {"x-b": 3}})
    changed = roles.with_role_values(blocks, {"validator": {"drift_budget": 1}, "reviewer": {"drift_budget": 2}})
    assert list(changed.items()) == [
        ("x-own", 1),
        ("validator", {"status": DONE, "x-a": 2, "drift_budget": 1}),
        ("reviewer", {"status": PENDING, "drift_budget": 2}),
    ]
    ordered = roles.with_role_values(blocks, {"validator": {"session_id": "s"}}, NAMES)
    after = {"reviewer": 7, "validator": {"status": DONE, "session_id": "s", "x-a": 2}, "x-own": 1}
    assert json.dumps(ordered) == json.dumps(after)
    assert with_snapshots(blocks.delta, {}).values == {"x-b": 3}
    assert with_snapshots(read_delta({"snapshots": {"a": 1}}), {"b": {}}).values == {"snapshots": {"a": 1, "b": {}}}
