"""Compares lists whose committed entries must not change: features and objectives keep their ids and descriptions.

Entries are matched by id. Entries that break their schema are left out, since another rule reports them.
"""

from __future__ import annotations

from taskstate.lint.facts.wording import cut, shown
from taskstate.messages import first_of
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from taskstate.lint.diagnostics import Diagnostic, Rule
    from taskstate.lint.facts.json_values import JsonValue
    from taskstate.syntax.nodes import Node
    from taskstate.syntax.spans import Span

_MAX_IDS = 5  # ids that a message lists; of more it gives the number


class StableEntries(NamedTuple):
    """A list of entries: the span of its key, its valid ids and descriptions by id, and whether all ids are valid.

    `repeated` are those whose id an earlier one has: their ids by their descriptions.
    """

    key: Span
    ids: Mapping[str, Node]
    words: Mapping[str, Node]
    is_whole: bool
    repeated: Mapping[str, Node]


def stable_entries(value: JsonValue | None, key: str) -> StableEntries | None:
    """Return the entries of the list under `key` of a JSON value, or None where there is no list."""
    entry = value.root.entry(key) if value else None
    if value is None or entry is None or entry.value.kind != "sequence":
        return None
    ids: dict[str, Node] = {}
    words: dict[str, Node] = {}
    repeated: dict[str, Node] = {}
    whole = True
    for index, item in enumerate(entry.value.items):
        name, text = item.get("id"), item.get("description")
        if name is None or not value.is_sound(key, index, "id"):
            whole = False
            continue
        is_first = ids.setdefault(name.text, name) is name
        if text and not is_first:
            repeated[text.text] = name
        elif text and value.is_sound(key, index, "description"):
            words.setdefault(name.text, text)
    return StableEntries(entry.key.span, ids, words, whole, repeated)


def differences(now: StableEntries, then: Sequence[StableEntries], rule: Rule, *, noun: str) -> Iterator[Diagnostic]:
    """Yield a finding for each entry with a changed description or id, and one for all removed entries.

    While merging, an entry may have its description from any of the parents `then`. `noun` names an entry in messages.
    """
    committed: dict[str, list[str]] = {}
    for each in then:
        for name, node in each.words.items():
            committed.setdefault(name, []).append(node.text)
    new = {node.text: now.ids[name] for name, node in now.words.items() if name not in committed} | {**now.repeated}
    known = {text for texts in committed.values() for text in texts}
    removed = []
    for name, texts in committed.items():
        again = next((new[text] for text in texts if text in new), None)
        if name not in now.ids and again is None:
            removed.append(name)
        elif again and name not in now.ids:
            message = f"this {noun} had the id {shown(name)} when it was committed"
            yield rule.at(again.span, message, help=f"give it the id {cut(name)} back")
        elif name in now.words and now.words[name].text not in texts:
            yield rule.at(
                now.words[name].span,
                f"{noun} {cut(name)} was reworded; committed was {shown(texts[0])}",
                help=f"write {shown(texts[0])} again, and add what is wanted now as another {noun}",
            )
    if removed and now.is_whole and now.repeated.keys() <= known:
        named = first_of([*map(cut, removed)], _MAX_IDS)
        message = f"{noun} {named} was removed" if len(removed) == 1 else f"{noun}s {named} were removed"
        words = [f"{cut(name)}: {shown(committed[name][0])}" for name in removed]
        help_ = f"put back {first_of(words, _MAX_IDS)}; what is not wanted any more stays, unfinished"
        yield rule.at(now.key, message, help=help_)
