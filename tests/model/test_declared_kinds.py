"""Kinds of state files that a project declares: what is taken, and what would keep commands from working."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest

from taskstate import resources
from taskstate.errors import TaskstateError
from taskstate.model.declared_kinds import read_kind
from taskstate.model.document_kinds import KINDS, Kind, built_in, kind_named, kind_names

if TYPE_CHECKING:
    from collections.abc import Callable

TASK: dict[str, Any] = json.loads(resources.text("schemas/kinds/task.json"))
INCIDENT: dict[str, Any] = {
    "kind": "incident",
    "title": "# Incident {task_id}: {title}",
    "front_matter": "task",
    "placeholder": "*To be completed.*",
    "sections": [
        {"name": "What Happened", "required": True, "subsections": [{"name": "Timeline"}]},
        {"name": "Notes", "untouchable": True},
    ],
}
RISKS = {"name": "Risks", "subsections": [{"name": "Known", "required": True}]}


def changed(base: dict[str, Any], change: Callable[[dict[str, Any]], object]) -> Kind:
    """Return the kind of a declaration after a change."""
    value = copy.deepcopy(base)
    change(value)
    return read_kind(value, base["kind"], "kinds/x.json")


def test_a_built_in_kind_is_what_a_project_may_begin_with() -> None:
    """The shipped files of the kinds are declarations that are taken, and give the built-in kinds."""
    for name in KINDS:
        value = json.loads(resources.text(f"schemas/kinds/{name}.json"))
        assert read_kind(value, name, "x") == built_in(name)


def test_sections_are_added_to_a_built_in_kind() -> None:
    """Own sections and own subsections stand where the project puts them."""

    def add(value: dict[str, Any]) -> None:
        value["sections"].insert(2, RISKS)
        value["sections"][0]["subsections"].append({"name": "Budget"})

    declared = changed(TASK, add)
    assert [each.key for each in declared.sections][1:4] == ["chain inputs", "risks", "feature checklist"]
    assert kind_named(None, (declared,)) == kind_named("task", (declared,)) == declared
    assert kind_named("permanent", (declared,)) == built_in("permanent")
    assert kind_named(None, ()) == built_in("task")


def test_a_kind_of_ones_own() -> None:
    """An own kind has its own sections, and the front matter of all state files."""
    incident = changed(INCIDENT, lambda _: None)
    assert kind_named("incident", (incident,)).title_line(task_id="1", title="T") == "# Incident 1: T"
    assert kind_named("other", (incident,)).name == "task"
    assert kind_names((incident,)) == ("task", "permanent", "incident")


@pytest.mark.parametrize(
    ("base", "change", "problem"),
    [
        (TASK, lambda v: v["sections"].pop(3), "the section 'Progress Log' of the built-in kind is missing"),
        (TASK, lambda v: v["sections"].reverse(), "not in their order"),
        (TASK, lambda v: v["sections"].insert(0, RISKS), "the first section is 'Static Context'"),
        (TASK, lambda v: v["sections"][3].update(closed=False), "`closed` of the section 'Progress Log' differs"),
        (TASK, lambda v: v["sections"][3]["subsections"].pop(), "`subsections` of the section 'Progress Log' differs"),
        (TASK, lambda v: v["sections"][3]["subsections"].append({"name": "X"}), "only commands write subsections"),
        (TASK, lambda v: v["sections"][2].pop("fence"), "`fence` of the section 'Feature Checklist' differs"),
        (TASK, lambda v: v["sections"][6].update(name="4. progress log"), "several sections 'Progress Log'"),
        (TASK, lambda v: v.update(title="# {title}"), "`title` of the built-in kind 'task' is '# Task"),
        (TASK, lambda v: v.update(placeholder="*none*"), "`placeholder` of the built-in kind"),
        (INCIDENT, lambda v: v.update(title="# {title.__class__}"), "but no other braces"),
        (INCIDENT, lambda v: v.update(title="# {title:>9999999999}{title}"), "but no other braces"),
        (INCIDENT, lambda v: v.update(title="# x"), "`title` holds `{title}`"),
        (INCIDENT, lambda v: v.update(kind="task"), "`kind` is 'task', and the file's name says 'incident'"),
        (INCIDENT, lambda v: v.update(front_matter="handoff"), "all state files have that of the schema 'task'"),
        (INCIDENT, lambda v: v.update(sections=[]), "sections"),
        (INCIDENT, lambda v: v.pop("placeholder"), "placeholder"),
        (INCIDENT, lambda v: v.update(colour=1), "colour"),
        (INCIDENT, lambda v: v["sections"][0].update(name="a\nb"), "cannot be a title"),
        (INCIDENT, lambda v: v["sections"][0].update(fence={"schema": "../x", "required": True}), "'../x'; there are"),
        (INCIDENT, lambda v: v["sections"][0]["subsections"][0].update(pattern="(a+)+$", form="a"), "only built-in"),
        (
            INCIDENT,
            lambda v: v["sections"][0].update(some_filled={"statuses": ["complete"], "of": ["X"]}),
            "`some_filled` of 'What Happened' names a subsection",
        ),
    ],
)
def test_what_is_refused(base: dict[str, Any], change: Callable[[dict[str, Any]], object], problem: str) -> None:
    """A declaration that commands could not work with is refused, with the file and what is wrong in it."""
    with pytest.raises(TaskstateError) as refused:
        changed(base, change)
    assert refused.value.code == "kind"
    assert str(refused.value).startswith("kinds/x.json: ")
    assert problem in str(refused.value)


@pytest.mark.parametrize("name", ["handoff", "Incident", "a b", "../x", "", "x" * 41])
def test_a_name_that_is_refused(name: str) -> None:
    """A kind is named by small letters, digits and dashes."""
    with pytest.raises(TaskstateError, match="cannot be the name of a kind"):
        read_kind(INCIDENT | {"kind": name or "x"}, name, "x")
