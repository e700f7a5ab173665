"""Defines what a reader yields: records of a source with their places, what it left out or refused, and its count.

A reader knows the form of one system and nothing of ours: ids, states and times are the source's own words here.
"""

from __future__ import annotations

from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias


COMMENTS = "Comments"  # the title of a note whose entries each begin with author and time, `**ann, 2026-01-02:**`


class Place(NamedTuple):
    """Where something stands: the file as it was given, the line, and the column if the line holds several things."""

    path: str
    line: int = 1
    column: int = 0

    def __str__(self) -> str:
        """Return the place as terminals and editors know it."""
        return f"{self.path}:{self.line}" + (f":{self.column}" if self.column else "")


class Part(NamedTuple):
    """A feature or a criterion: its text, whether the source has it as done, the source's id, and what else it says.

    `time` is when it was done, if the source says so.
    """

    text: str
    done: bool = False
    id: str = ""
    notes: str = ""
    time: str = ""


class Dated(NamedTuple):
    """An entry of a dated log, which becomes a session; without a `time` that can be read it is kept as text."""

    time: str
    did: tuple[str, ...]
    next: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()
    state: str = ""


class Note(NamedTuple):
    """A text without a place of its own, under its title; `records` says for how many records it stands."""

    title: str
    text: str
    records: int = 0


class Record(NamedTuple):
    """A task of the source.

    `status` is the source's word; `state` is one of our statuses where the system's own category decides. A task that
    `is_container` is as far as what stands in it, unless its status says that it is done, dropped or blocked.
    `closed_at` and `updated_at` are times of the source.
    One that `is_epic` names the larger undertaking of those below it.
    `labels` are words that may say status, priority or area. `fields` are what has no place here, by the source's keys.
    `said` is all that the source says, as a JSON value or a text: each value of it must stand in the result, except
    for those that `became` others. `absent` are keys that the source was not asked for: never taken for empty.
    `progress` is what was said of work that is under way, for a session at `updated_at`.
    `files` are those of a task that was exported from here: it comes back as it was, whatever the other fields say.
    `exported` is the id of a task that, by its mark, it was exported from; `is_as_exported` if nobody edited it since.
    """

    id: str
    title: str
    place: Place
    said: object
    status: str = ""
    state: str = ""
    is_container: bool = False
    is_archived: bool = False
    is_epic: bool = False
    priority: str = ""
    created_at: str = ""
    updated_at: str = ""
    closed_at: str = ""
    epic: str = ""
    description: str = ""
    summary: str = ""
    criteria: tuple[Part, ...] = ()
    features: tuple[Part, ...] = ()
    sessions: tuple[Dated, ...] = ()
    progress: Dated | None = None
    depends_on: tuple[str, ...] = ()
    parent: str = ""
    subtasks: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    fields: Mapping[str, object] = {}
    notes: tuple[Note, ...] = ()
    became: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    files: Mapping[str, str] = {}
    exported: str = ""
    is_as_exported: bool = False


class Left(NamedTuple):
    """A record that is left out by a named rule, such as `pull-request`; `records` counts it with its parts."""

    place: Place
    id: str
    why: str
    records: int = 1


class Refused(NamedTuple):
    """A record, or a whole file, that cannot be taken: a code such as `bad-yaml`, and what is wrong in words.

    `records` counts it with its parts.
    """

    place: Place
    code: str
    why: str
    id: str = ""
    records: int = 1


class Told(NamedTuple):
    """Something that was read in one of several ways, or has no place here: its code, and in words what was done."""

    code: str
    why: str
    place: Place | None = None


class Other(NamedTuple):
    """Files that are no records: what they are, how many, and what to do with them."""

    what: str
    number: int
    advice: str = ""


class Count(NamedTuple):
    """How many records a piece of the source holds, counted by the reader apart from what it makes of them."""

    number: int


class Options(NamedTuple):
    """What a reader is asked for, by the flags of the command."""

    split: bool = False
    subtasks: str = "auto"
    tag: str = ""
    into: str = ""


Found: TypeAlias = "Record | Left | Refused | Told | Other | Count"
