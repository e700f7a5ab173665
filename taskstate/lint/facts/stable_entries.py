"""Compares lists of what was agreed on, features and objectives: once committed, an entry keeps its id and its words.

An entry is known by its id; entries that break their schema are left to the rule that says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taskstate.lint.facts.wording import cut, shown
from taskstate.messages import first_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from taskstate.lint.diagnostics import Diagnostic, Rule
    from taskstate.lint.facts.json_values import JsonValue
    from taskstate.syntax.nodes import Node
    from taskstate.syntax.spans import Span

_MAX_IDS = 5  # ids; of more it is told how many


class StableEntries(NamedTuple):
    """A list of entries: where its key stands, the ids and descriptions that are sound, and whether all ids are."""

    key: Span
    ids: Mapping[str, Node]
    words: Mapping[str, Node]
    is_whole: bool


def stable_entries(value: JsonValue | None, key: str) -> StableEntries | None:
    """Return the list under `key` of a JSON value, or None where there is none that can be relied on."""
    entry = value.root.entry(key) if value else None
    if value is None or entry is None or entry.value.kind != "sequence":
        return None
    ids: dict[str, Node] = {}
    words: dict[str, Node] = {}
    whole = True
    for index, item in enumerate(entry.value.items):
        name, text = item.get("id"), item.get("description")
        if name is None or not value.is_sound(key, index, "id"):
            whole = False
            continue
        ids.setdefault(name.text, name)
        if text and value.is_sound(key, index, "description"):
            words.setdefault(name.text, text)
    return StableEntries(entry.key.span, ids, words, whole)


def differences(now: StableEntries, then: Sequence[StableEntries], rule: Rule, *, what: str) -> Iterator[Diagnostic]:
    """Yield the entries that say something else than at every parent, those with another id, and once what is gone."""
    committed: dict[str, list[str]] = {}
    for each in then:
        for name, node in each.words.items():
            committed.setdefault(name, []).append(node.text)
    new = {node.text: now.ids[name] for name, node in now.words.items() if name not in committed}
    gone = []
    for name, texts in committed.items():
        again = next((new[text] for text in texts if text in new), None)
        if name not in now.ids and again is None:
            gone.append(name)
        elif again and name not in now.ids:
            message = f"this {what} had the id {shown(name)} when it was committed"
            yield rule.at(again.span, message, help=f"give it the id {cut(name)} back")
        elif name in now.words and now.words[name].text not in texts:
            yield rule.at(
                now.words[name].span,
                f"{what} {cut(name)} was reworded; committed was {shown(texts[0])}",
                help=f"take the words back, and add what is wanted now as a {what} of its own",
            )
    if gone and now.is_whole:
        named = first_of([*map(cut, gone)], _MAX_IDS)
        message = f"{what} {named} was removed" if len(gone) == 1 else f"{what}s {named} were removed"
        yield rule.at(
            now.key, message, help="put back what was committed; what is not wanted any more stays, unfinished"
        )
