"""Whatever several writers do, in any order, nothing that was acknowledged vanishes unnamed."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from taskstate.errors import TaskstateError
from taskstate.model import permanent
from taskstate.model.entries import entries
from taskstate.model.permanent import CONSTRAINTS, PHASE_STATUS
from taskstate.permanent.create import NewPermanent, create_permanent
from taskstate.permanent.update import Update, update
from tests.support.place import Place

KEYS, VALUES = ("Latency", "Region", "Size"), ("one", "two", "three")


class Item(NamedTuple):
    """An item that a writer adds: with a label, or without."""

    key: str
    value: str

    @property
    def line(self) -> str:
        """The item as Markdown."""
        return f"- **{self.key}:** {self.value}" if self.key else f"- {self.value}"


ITEMS = st.builds(Item, st.sampled_from((*KEYS, "")), st.sampled_from(VALUES))
UPDATES = st.builds(
    lambda writer, section, heading, items, is_stale: (writer, section, heading, items, is_stale),
    st.sampled_from(("lead", "ann", "bob")),
    st.sampled_from((CONSTRAINTS, PHASE_STATUS)),
    st.sampled_from(("", "", "First")),
    st.lists(ITEMS, min_size=1, max_size=3, unique_by=lambda each: each.key or each.value),
    st.booleans(),
)


@settings(max_examples=60)  # each writes up to six times to disk
@given(st.lists(UPDATES, min_size=1, max_size=6))
def test_each_acknowledged_item_is_there_or_its_replacement_is_named(
    updates: list[tuple[str, str, str, list[Item], bool]],
) -> None:
    """Versions rise by one for each change; a stale revision is refused, and planned again with `merge`."""
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder).resolve())
        request = place.request()
        create_permanent(place.workspace, NewPermanent("1", "Shared", "Words."), request)
        acknowledged: list[tuple[str, Item]] = []
        for writer, section, heading, items, is_stale in updates:
            content = (f"### {heading}\n\n" if heading else "") + "\n".join(each.line for each in items) + "\n"
            made = place.request()
            made = made._replace(metadata=made.metadata._replace(actor=writer), expect="0" if is_stale else "")
            asked = Update(section, content, merge=is_stale)
            try:
                update(place.workspace, "", asked, made)
            except TaskstateError as error:
                if error.code != "ambiguous":
                    raise
                continue
            acknowledged += [(section, each) for each in items]
        state = place.workspace.load(place.workspace.locate("1")).state
        log = permanent.change_log(state)
        assert [each.number for each in log] == [*range(permanent.version_of(state), 0, -1)]
        assert permanent.edited_sections(state) == ()
        told = " ".join(each.summary for each in log).casefold()
        for section, item in acknowledged:
            present = {each.same for each in entries(permanent.content_of(state, section))}
            wanted = f"{item.key}: {item.value}".casefold() if item.key else item.value
            assert wanted in present or f"(was {item.value})" in told
