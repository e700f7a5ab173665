"""The laws of briefs and exports: a budget is kept, nothing that matters is lost, more room never holds less."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from taskstate.brief.brief import brief
from taskstate.brief.units import units_of
from taskstate.context import export as context_export
from taskstate.handoff import token_count
from taskstate.model.config import EXPORT_FIELDS
from taskstate.model.config_reader import read_config
from taskstate.model.task_state import read_state
from taskstate.syntax.document import parse
from taskstate.syntax.markdown_blocks import read_blocks
from taskstate.syntax.spans import with_newlines
from taskstate.workspace.workspace import Loaded
from tests.support.markdown_strategies import bodies, outside, state_files
from tests.support.place import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.model.task_state import TaskState
    from taskstate.workspace.workspace import Workspace

EXAMPLE = (Path(__file__).parent.parent / "cases" / "states" / "reviewed.md").read_text(encoding="utf-8")
LEFT_OUT = "\n## Left out\n"
PLACES = ("Issue and verify tokens.", "- Wrote the reader", "- Decide on 30 s of leeway", "Keep the old endpoint.")
BLOCK = re.compile(r"^[a-z_]+:.*\n(?:[ ]+.*\n)*", re.MULTILINE)
budgets = st.integers(1, 3_000)
roles = st.sampled_from(["", "implementer", "reviewer", "validator"])
examples = st.tuples(st.sampled_from(PLACES), outside).map(lambda put: EXAMPLE.replace(*put, 1))
texts = examples | examples | state_files


@pytest.fixture(scope="module")
def workspace() -> Iterator[Workspace]:
    """Return a repository for all examples: a brief writes nothing but what may be lost."""
    with tempfile.TemporaryDirectory() as folder:
        yield Place(Path(folder) / "repository").workspace


def loaded(text: str) -> Loaded:
    """Return a text as if it were the state file of task 101."""
    document = parse(text)
    state = read_state(document, "101")
    return Loaded(".taskstate/tasks/task-101-state.md", text.encode("utf-8", "surrogatepass"), document, state)


def body(text: str) -> list[str]:
    """Return the lines of a brief, without blank ones and those about what it leaves out."""
    lines = text.split(LEFT_OUT, maxsplit=1)[0].rstrip("\n").split("\n")
    return [line for line in lines if line and not line.startswith("This is the shortest possible brief")]


@given(texts, budgets, roles)
def test_a_brief_keeps_its_budget(workspace: Workspace, text: str, budget: int, role: str) -> None:
    """It has at most as many tokens as it may, or is the least there is and says so."""
    task = loaded(text)
    found = brief(workspace, task, role=role, budget=budget)
    assert found.tokens == token_count.estimate(found.text)
    if found.fits:
        assert found.tokens <= budget
    else:
        least = brief(workspace, task, role=role, budget=1)
        assert found.tokens > budget
        assert body(found.text) == body(least.text)
        assert f"longer than the {budget:,} tokens" in found.text


@given(examples, budgets, roles)
def test_next_steps_and_open_features_stay(workspace: Workspace, text: str, budget: int, role: str) -> None:
    """However small the budget, the next steps are there, and every open feature by its id."""
    task = loaded(text)
    lines = brief(workspace, task, role=role, budget=budget).text.split("\n")
    for step in task.state.next_steps:
        if step.strip() and step.split(chr(10))[0].isprintable():  # what a terminal obeys is shown as an escape
            assert f"- {step.split(chr(10))[0]}" in lines
    for feature in task.state.open_features:
        assert any(line == f"- {feature.id}" or line.startswith(f"- {feature.id}: ") for line in lines)


@given(texts, budgets, budgets, roles)
def test_a_larger_budget_never_holds_less(workspace: Workspace, text: str, one: int, other: int, role: str) -> None:
    """Every line of a brief stands in the brief with more room too, an open feature perhaps with more words."""
    task = loaded(text)
    small, large = (brief(workspace, task, role=role, budget=each) for each in sorted((one, other)))
    held = body(large.text)
    places = iter(held)
    for line in body(small.text):
        assert any(each == line or each.startswith(f"{line}: ") for each in places), line


@given(bodies | outside)
def test_units_are_the_whole_text(text: str) -> None:
    """Put together again, the pieces are the text, blank lines aside, and a fence that was closed is in one piece."""
    units = units_of(text)
    lines = [line for line in with_newlines(text, "\n").split("\n") if line.strip()]
    pieces = [line for unit in units for line in unit.text.split("\n") if line.strip()]
    if all(block.closed for block in read_blocks(with_newlines(text, "\n").strip("\n"))):
        assume(all(block.closed for unit in units for block in read_blocks(unit.text)))
        assert pieces == lines
    else:
        assert pieces[: len(lines)] == lines


def exported(text: str, role: str = "implementer", **config: Any) -> str:  # noqa: ANN401 - a loose configuration
    """Return the export of a state file's text."""
    return context_export.export_text(read_config(config, "the test"), state_of(text), role)


def state_of(text: str) -> TaskState:
    """Return what a state file says."""
    return read_state(parse(text))


EXPORTED = {role: exported(EXAMPLE, role) for role in ("implementer", "reviewer", "validator")}


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("role", EXPORTED)
def test_order_of_keys_makes_no_difference(role: str, seed: int) -> None:
    """The blocks of the front matter, the roles, citations and paths in whatever order give the same bytes."""
    random = Random(seed)  # noqa: S311 - the same shuffles each time
    head, front_matter, rest = EXAMPLE.split("---\n", 2)
    blocks = BLOCK.findall(front_matter)
    assert "".join(blocks) == front_matter
    random.shuffle(blocks)
    citations = re.findall(r"^  \{\"content_sha\".*\}", rest, re.MULTILINE)
    shuffled = random.sample(citations, len(citations))
    rest = rest.replace(",\n".join(citations), ",\n".join(shuffled))
    items = ["- `src/auth/**`", "- `:mobile`"]
    rest = rest.replace("\n".join(items), "\n".join(random.sample(items, 2)))
    assert exported("---\n".join([head, "".join(blocks), rest]), role) == EXPORTED[role]


@given(texts, st.sets(st.sampled_from(EXPORT_FIELDS)))
def test_an_export_holds_nothing_that_the_role_drops(text: str, drop: set[str]) -> None:
    """The fields of an export are those that the role's table leaves, and the bytes are canonical."""
    told = exported(text, export={"implementer": {"drop": sorted(drop)}})
    assert set(EXPORT_FIELDS) - set(json.loads(told)) == drop
    assert told == json.dumps(json.loads(told), sort_keys=True, ensure_ascii=False, indent=2) + "\n"


def test_the_environment_makes_no_difference(tmp_path: Path) -> None:
    """Language, time zone, hash seed and working folder leave the bytes of an export and of a brief alone."""
    place = Place(tmp_path / "repository")
    place.text = EXAMPLE.replace("JWT Service", "JWT S\u00e9rvice \u2014")
    archived = "".join(f"\n## Session {number} - 2026-01-31 0{number}:00\n\nStructure.\n" for number in (1, 2))
    place.archive_path.write_text(f"# Archive\n{archived}", encoding="utf-8")
    (place.root / "below").mkdir()
    # The context of the example cites files that are not there, which the command refuses.
    export = "from tests.properties.test_brief_laws import EXAMPLE, exported; print(exported(EXAMPLE, 'reviewer'))"
    commands = ("-c", export), ("-m", "taskstate", "brief", "101", "--budget", "900", "--root", str(place.root))
    seen = set()
    for number, (language, zone) in enumerate([("C", "UTC"), ("tr_TR.UTF-8", "Asia/Tokyo"), ("POSIX", "America/Lima")]):
        environment = os.environ | {"LC_ALL": language, "LANG": language, "TZ": zone, "PYTHONHASHSEED": str(number)}
        environment["PYTHONPATH"] = str(Path(__file__).parents[2])
        told = [
            subprocess.run(
                [sys.executable, *command],
                cwd=place.root / ("below" if number else ""),
                env=environment,
                capture_output=True,
                check=True,
            ).stdout
            for command in commands
        ]
        seen.add(tuple(told))
    assert len(seen) == 1
