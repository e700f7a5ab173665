"""What the editor offers while one types: keys and values, ids, labels of a session, sections, and paths."""

from __future__ import annotations

import re

from lsprotocol import types

from taskstate.errors import TaskstateError
from taskstate.lsp import hover, tokens
from taskstate.model.permanent import PERMANENT
from taskstate.model.session_texts import ASKED_LABELS
from taskstate.secrets.mask import masked
from taskstate.storage import files, folders
from taskstate.syntax.spans import Span, printable
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.validation import schema_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.lsp.positions import Positions
    from taskstate.lsp.tasks import TaskIndex
    from taskstate.model.document_kinds import SectionSpec, SubsectionSpec

_MOST = 200  # entries: nobody reads more of them
_KEY = re.compile(r"(?P<indent>[ ]*)(?P<word>[\w-]*)\Z")
_TOP_KEY = re.compile(r"(?m)^([\w-]+):")
_VALUE = re.compile(r"[ ]*(?P<key>[\w-]+):[ \t]++(?P<word>[^\r\n]*)\Z")
_ITEM = re.compile(r"[ ]*-[ ]++(?P<word>[^\r\n]*)\Z")
_LABEL = re.compile(r"(?P<word>\*\*[\w ]*)\Z")
_HEADING = re.compile(r"(?P<word>#{1,3}[ ]?[^\r\n]*)\Z")
_WORD = re.compile(r"(?<![\w.-])(?P<word>[\w.-]+)\Z")
_PATH = re.compile(r"(?:(?<=[\s`\"'()<>\[\]])|\A)(?P<word>[^\s`\"'()<>\[\]]*)\Z")
_JSON_PATH = re.compile(r"\"(?:file|path)\"[ ]*:[ ]*\"(?P<word>[^\"]*)\Z")
_PATH_KEYS = frozenset({"do_not_reread", "path", "file", "files", "paths", "prd"})


class _Place(NamedTuple):
    """Where something is completed: the line up to the cursor, and the part of it that is replaced."""

    facts: Facts
    at: int
    before: str
    tasks: TaskIndex
    positions: Positions


def completion(facts: Facts, at: int, tasks: TaskIndex, positions: Positions) -> types.CompletionList:
    """Return what can stand at an offset; empty where nothing is known."""
    text = facts.document.text
    place = _Place(facts, at, text[tokens.line_in(text, at).start : at], tasks, positions)
    front_matter = facts.document.front_matter.span
    in_front_matter = front_matter and front_matter.start < at < front_matter.end
    items = [*(_in_front_matter(place) if in_front_matter or _is_unclosed(facts, at) else _in_body(place))]
    return types.CompletionList(is_incomplete=len(items) > _MOST, items=items[:_MOST])


def _is_unclosed(facts: Facts, at: int) -> bool:
    """Return whether a front matter without an end begins the text, as while it is typed."""
    return facts.document.front_matter.span is None and at > 0 and facts.document.text.startswith("---")


def _item(  # noqa: PLR0913 - the fields of an item
    place: _Place, label: str, kind: types.CompletionItemKind, word: str, *, new: str = "", detail: str = ""
) -> types.CompletionItem:
    """Return an item that replaces the `word` before the cursor by `new`, or by its label."""
    span = Span(place.at - len(word), place.at)
    return types.CompletionItem(
        label=printable(label),
        kind=kind,
        detail=printable(masked(detail, place.facts.config.secrets.allow)) or None,
        filter_text=new or label,
        text_edit=types.TextEdit(place.positions.range(span), new or label),
    )


# The front matter


def _in_front_matter(place: _Place) -> Iterator[types.CompletionItem]:
    value, item, key = _VALUE.match(place.before), _ITEM.match(place.before), _KEY.match(place.before)
    if value:
        yield from _values(
            place, (*_parents(place, len(place.before) - len(place.before.lstrip())), value["key"]), value["word"]
        )
    elif item:
        yield from _values(place, _parents(place, len(place.before) - len(place.before.lstrip()) + 1), item["word"])
    elif key:
        yield from _keys(place, _parents(place, len(key["indent"])), key["word"])


def _parents(place: _Place, indent: int) -> tuple[str, ...]:
    """Return the keys above a line that is indented so far, outermost first."""
    text, found = place.facts.document.text, list[str]()
    for line in reversed(text[: tokens.line_in(text, place.at).start].splitlines()):
        match = re.match(r"([ ]*)(?:- )?([\w-]+):", line)
        if match and len(match[1]) < indent:
            indent = len(match[1])
            found.append(match[2])
        if indent == 0 or line.startswith("---"):
            break
    return tuple(reversed(found))


def _keys(place: _Place, parents: tuple[str, ...], word: str) -> Iterator[types.CompletionItem]:
    """Yield the keys of the schema that the map lacks."""
    name, node = place.facts.front_matter_schema, place.facts.front_matter
    found = hover.schema_at(name, parents)
    map_ = node.get(*parents) if node else None
    present = {entry.key.text for entry in map_.entries} - {word} if map_ else set[str]()
    if node is None and not parents:  # what is being typed keeps the rest from being read
        present = set(_TOP_KEY.findall(place.facts.document.front_matter.content.of(place.facts.document.text)))
    for part in schema_files.alternatives(found, schema_files.load(name)) if found is not None else ():
        properties: Mapping[str, object] = part.get("properties", {})
        for key in properties:
            if key not in present:
                meaning = hover.key_page(name, (*parents, key)).split("\n\n")
                detail = meaning[1] if len(meaning) > 1 else ""
                yield _item(place, key, types.CompletionItemKind.Property, word, new=f"{key}: ", detail=detail)


def _values(place: _Place, keys: tuple[str, ...], rest: str) -> Iterator[types.CompletionItem]:
    """Yield the values that a key may have: listed ones, ids of tasks, or paths."""
    word = re.split(r"[\[,\s\"']", rest)[-1]
    name = place.facts.front_matter_schema
    found = hover.schema_at(name, keys)
    if found is not None:
        for value in hover.values_of(found, schema_files.load(name)):
            yield _item(place, value, types.CompletionItemKind.EnumMember, word)
    if keys[-1:] and keys[-1] in tokens.TASK_KEYS:
        yield from _task_ids(place, word, quoted='"' not in rest.rpartition(word)[0][-1:])
    elif keys[-1:] and keys[-1] in _PATH_KEYS:
        yield from _paths(place, word)


def _task_ids(place: _Place, word: str, *, quoted: bool) -> Iterator[types.CompletionItem]:
    own = (place.facts.task_id or "").casefold()
    for task in place.tasks.all():
        if task.id.casefold() != own and task.kind != PERMANENT:  # which is no work to build on
            new = f'"{task.id}"' if quoted else task.id
            detail = f"{task.title} ({task.status})"
            item = _item(place, task.id, types.CompletionItemKind.Reference, word, new=new, detail=detail)
            item.filter_text = task.id
            yield item


# The body


def _in_body(place: _Place) -> Iterator[types.CompletionItem]:
    json_path = _JSON_PATH.search(place.before)
    if json_path:
        yield from _paths(place, json_path["word"])
    elif heading := _HEADING.match(place.before):
        yield from _sections(place, heading["word"])
    elif label := _LABEL.match(place.before):
        yield from _labels(place, label["word"])
    else:
        yield from _words(place)


def _words(place: _Place) -> Iterator[types.CompletionItem]:
    path, word = _PATH.search(place.before), _WORD.search(place.before)
    named = re.search(r"(?i)(?:\btask[ -]#?|#)(?P<word>[\w.-]*)\Z", place.before)
    if named:
        yield from _task_ids(place, named["word"], quoted=False)
    checklist = place.facts.state.checklist if not place.facts.is_json else None
    typed = word["word"] if word else ""
    is_path = bool(path and "/" in path["word"])
    for feature in checklist.features if checklist and not is_path else ():
        yield _item(place, feature.id, types.CompletionItemKind.Value, typed, detail=feature.description)
    in_marks = place.before.count("`") % 2 == 1
    if path and (in_marks or is_path or place.facts.file_type == "handoff"):
        yield from _paths(place, path["word"])
    if not place.before.strip():
        yield from _labels(place, "")
        yield from _sections(place, "")


def _labels(place: _Place, word: str) -> Iterator[types.CompletionItem]:
    """Yield the labels that the session at the cursor lacks."""
    session = next(
        (each for each in place.facts.state.sessions if each.section.span.start < place.at <= each.section.span.end),
        None,
    )
    for label in ASKED_LABELS if session else ():
        if session and label.lower() not in session.fields:
            yield _item(place, f"**{label}:**", types.CompletionItemKind.Field, word, new=f"**{label}:** ")


def _sections(place: _Place, word: str) -> Iterator[types.CompletionItem]:
    """Yield the declared sections that the file lacks, each with the skeleton of its required parts."""
    facts, newline = place.facts, place.facts.document.newline
    present = {spec.name for spec, _ in facts.outline.present}
    for spec in facts.kind.sections:
        if spec.name not in present:
            new = _skeleton(spec, facts.kind.placeholder).replace("\n", newline)
            yield _item(place, spec.heading, types.CompletionItemKind.Module, word, new=new)
    for spec, section in facts.outline.present:
        if section.span.start < place.at <= section.span.end:
            titles = {
                each.name
                for each in spec.subsections
                for child in facts.document.children(section, 3)
                if each.match(child.title) is not None
            }
            missing = [each for each in spec.subsections if each.pattern or each.name not in titles]
            for each in missing:
                new = _part(each, place, facts.kind.placeholder).replace("\n", newline)
                yield _item(place, new.split(newline)[0], types.CompletionItemKind.Module, word, new=new)


def _skeleton(spec: SectionSpec, placeholder: str) -> str:
    parts = [f"### {each.name}\n\n{placeholder}\n" for each in spec.subsections if each.required and not each.pattern]
    return "\n".join([f"{spec.heading}\n", *(parts or [f"{placeholder}\n"])])


def _part(spec: SubsectionSpec, place: _Place, placeholder: str) -> str:
    """Return the skeleton of a subsection; that of a session has its number, the labels, and a time to fill in."""
    if spec.name == "Session":
        number = max((each.number for each in place.facts.state.sessions), default=place.facts.state.archived) + 1
        labels = "\n\n".join(f"**{label}:**" for label in ASKED_LABELS)
        return f"### Session {number} - YYYY-MM-DD HH:MM\n\n{labels}\n"
    return f"### {spec.form if spec.pattern else spec.name}\n\n{placeholder}\n"


# Paths


def _paths(place: _Place, word: str) -> Iterator[types.CompletionItem]:
    """Yield the files and folders of the repository that begin like a path; none outside of it."""
    folder, _, begun = word.rpartition("/")
    workspace = place.tasks.workspace
    try:
        path = files.inside(workspace.root, folder) if folder else workspace.root
        found = sorted(each for each in folders.entries(path) if each[0].startswith(begun))
    except (TaskstateError, OSError, ValueError):
        return
    for name, is_folder in found[:_MOST]:
        if name == ".git" or any(char in name for char in '\r\n`"'):
            continue
        full = f"{folder}/{name}" if folder else name
        kind = types.CompletionItemKind.Folder if is_folder else types.CompletionItemKind.File
        yield _item(place, f"{full}/" if is_folder else full, kind, word)
