"""Reads and writes a task's Chain Output: its parts, the files it names, and what completion still requires of it.

All but `set_part` is pure: whether the files exist, and what they contain, is for callers to find out.
"""

from __future__ import annotations

import re

from taskstate.context.static_context_edits import with_parts
from taskstate.errors import TaskstateError
from taskstate.messages import closest
from taskstate.model import chain
from taskstate.model.chain_quotes import parts_of
from taskstate.model.document_kinds import kind_of, placeholder_above, section_key
from taskstate.model.statuses import COMPLETE
from taskstate.model.task_state import PART_LEVEL, read_state
from taskstate.storage.replaced_texts import words_gone
from taskstate.syntax import escaping
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from taskstate.syntax.escaping import item_text
from taskstate.syntax.patterns import CODE
from taskstate.syntax.spans import Span, with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.writing.change import Change
from taskstate.writing.preconditions import require_not_complete
from taskstate.writing.writer import change

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from taskstate.model.task_state import TaskState
    from taskstate.syntax.document import Section
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request

FILES = "Files Created/Modified"
_OTHER = r"[\W_]+"
# One code span of a series at the beginning of an item: `a.py`, `b.py` and `c.py`.
_LEADING_CODE = CODE + r"[ \t]*(?:,|&|and\b)?[ \t]*"
_LINK = r"\[[^\]\n]*\]\(<?([^)\s>]++)>?[^)\n]*\)"
# A remark after the path: ` - text` (any dash), `: text`, `# text` or `(text)`.
_REMARK = r"(?s)(?<!\s)\s+(?:[-\u2013\u2014#:]\s|\().*"
# A word with a slash, an extension, or a leading dot.
_PATH_LIKE = r"(?:[^\s/]+/)+[^\s/]*|[^\s/]*[^\s/.]\.[A-Za-z][A-Za-z0-9]{0,9}|\.[A-Za-z][\w.-]*"
# A word that begins like a path, or has an extension.
_REAL = r"(?s)(?:\.{0,2}/|~).*|(?:.*/)?(?:[^/]*[^/.])?\.[A-Za-z][A-Za-z0-9_-]{0,20}"
_ADDRESS = r"[A-Za-z][A-Za-z0-9+.-]+:|//|#"  # a URL, or a fragment
_LINES = r":L?\d+(?:[-:]L?\d+)?\Z"
_BOLD = r"\A(?:\*\*|__)(?=`)"
_DELETED = r"(?i)\((?:file )?(?:deleted|removed)\)"
_WILDCARD = r"[*?\[\]{}]"
_NO_FILE = {"", "none", "nothing", "n/a", "-"}
_OWN_NAME, _SUMMARY = section_key(chain.OUTPUT), "Summary"


class OutputPart(NamedTuple):
    """A part of an output: `text` includes its heading, `code` are the contents of its code fences."""

    title: str
    slug: str
    text: str
    code: tuple[str, ...]


class NamedFile(NamedTuple):
    """A file that an output names, by its path from the repository's root, and whether it is marked as deleted.

    One that is not `sure` is a plain word without code marks or an extension: it counts only if such a file exists.
    """

    path: str
    deleted: bool = False
    sure: bool = True


class Gap(NamedTuple):
    """Something that completion requires and that is missing: `key` identifies it permanently, `words` describe it."""

    key: str
    words: str


def slug_of(title: str) -> str:
    """Return the name by which a part is requested: the words of its title in lower case, joined by `-`."""
    return re.sub(_OTHER, "-", section_key(title)).strip("-")


def parts(output: str) -> tuple[OutputPart, ...]:
    """Return the parts of an output; the text before the first heading is called `lead`."""
    return tuple(_part(text) for text in parts_of(output))


def _part(text: str) -> OutputPart:
    document = parse(text)
    first = document.sections[0] if document.sections and document.sections[0].span.start == 0 else None
    title = first.title if first else ""
    fences = document.blocks_in(Span(0, len(text)), "fence")
    code = tuple(block.content.of(text).rstrip("\n") for block in fences)
    return OutputPart(title=title, slug=slug_of(title) if title else "lead", text=text, code=code)


def find_parts(output: str, name: str, task_id: str) -> tuple[OutputPart, ...]:
    """Return the parts of an output with this title or short name: several where headings repeat.

    Raises:
        TaskstateError: code "not-found".
    """
    all_parts = parts(output)
    slug = _named_slug(name, [part.slug for part in all_parts], f"the output of task {task_id} has no part {name!r}")
    return tuple(part for part in all_parts if part.slug == slug)


def _named_slug(name: str, slugs: Sequence[str], message: str) -> str:
    """Return the slug that a name stands for: it is the slug itself, or its words begin words of no other one.

    So `files` and `notes` name the parts with the long titles.

    Raises:
        TaskstateError: code "not-found", with `message` and what was probably meant.
    """
    slug = slug_of(name.lstrip("# "))
    words = [word for word in slug.split("-") if word]
    known = [*dict.fromkeys(slugs)]
    named = [each for each in known if words and all(f"-{each}".find(f"-{word}") >= 0 for word in words)]
    if slug in known or len(named) == 1:
        return slug if slug in known else named[0]
    near = closest(slug, [*known, *(word for each in known for word in each.split("-"))])
    hint = f"did you mean {near}?" if near else f"it has: {', '.join(known)}"
    raise TaskstateError(message, help=hint, code="not-found")


# Writing


def set_part(workspace: Workspace, task_id: str, name: str, text: str, request: Request) -> Outcome[str]:
    """Write a part of a task's Chain Output in place of what is there; the result is the part's title.

    Raises:
        TaskstateError: as `with_part`.
    """

    def job(loaded: Loaded) -> Change[str]:
        title = part_title(loaded.state, name)
        return _changed(loaded, with_part(loaded.state, title, text), "chain output set")._replace(result=title)

    return change(workspace, task_id, job, request)


def filling(text: str) -> Callable[[Loaded], Change]:
    """Return the step that writes the Chain Output that a text gives, as `with_output`; what it replaces is kept."""
    return lambda loaded: _changed(loaded, with_output(loaded.state, text), "finish --output")


def _changed(loaded: Loaded, text: str, by: str) -> Change[str]:
    """Return the change to a text with another Chain Output; of the old one what says something is kept."""
    before, after = (each.state.section(chain.OUTPUT) for each in (loaded, loaded.with_text(text)))
    old, new = before.body.of(loaded.document.text) if before else "", after.body.of(text) if after else ""
    placeholder = kind_of(loaded.document).placeholder
    return Change(text=text, replaced=words_gone(loaded.relative, old.replace(placeholder, ""), new, by), result="")


def part_title(state: TaskState, name: str) -> str:
    """Return the title of the part of a task's Chain Output that a title or short name (`files`, `notes`) stands for.

    Raises:
        TaskstateError: code "not-found"; code "section-missing": the task has no Chain Output.
    """
    spec, section = kind_of(state.document).section(chain.OUTPUT), state.section(chain.OUTPUT)
    if spec is None or section is None:
        message = f"task {state.id} has no section {chain.OUTPUT}"
        help_ = f"add `{spec.heading}`" if spec else f"a task of the kind {state.kind} has no output"
        raise TaskstateError(message, help=help_, code="section-missing")
    own = (each.title for each in state.document.children(section, PART_LEVEL))
    titles = {slug_of(each): each for each in (*own, *(part.name for part in spec.subsections))}
    return titles[_named_slug(name, [*titles], f"the {chain.OUTPUT} has no part {name!r}")]


def with_part(state: TaskState, title: str, text: str) -> str:
    """Return a state file's text with another content of a part of its Chain Output; headings in it are escaped.

    Raises:
        TaskstateError: code "complete", "empty" or "control-characters"; code "unsafe": something in the section never
            closes and would swallow the part.
    """
    require_not_complete(state, ", and other tasks may use its output")
    content = _without_own_heading(escaping.clean(text, what=f"the part {title!r}"), title)
    if escaping.is_blank(content) or kind_of(state.document).is_placeholder(content):
        raise TaskstateError(
            f"the part {title!r} says nothing", help="write what later tasks need to know", code="empty"
        )
    body = escaping.paragraphs(content, what=f"the part {title!r}", deepest=escaping.SUBSECTION_LEVEL)
    changed = with_parts(state.document, {title: body}, name=chain.OUTPUT)
    after = read_state(state.document.with_text(changed))
    section, is_new = after.subsection(chain.OUTPUT, title), state.subsection(chain.OUTPUT, title) is None
    written = with_newlines(section.body.of(changed), "\n").strip() if section else ""
    expected = sorted([*_structure(state), *([(PART_LEVEL, title)] if is_new else [])])
    if written != body.strip() or sorted(_structure(after)) != expected:
        message = f"task {state.id}: {title!r} cannot be written, since something before it never closes"
        raise TaskstateError(message, help="run `taskstate lint` and fix the fence that it names", code="unsafe")
    return _formatted(after, section)


def _formatted(state: TaskState, part: Section | None) -> str:
    """Return a text with a part of the output as the formatter leaves it, and no placeholder above all of them."""
    from taskstate.formatting.spacing import spacing_edits

    document, section = state.document, state.section(chain.OUTPUT)
    start, end = part.span if part else (0, 0)
    edits = [each for each in spacing_edits(document) if start <= each.start <= each.end <= end]
    return apply(document.text, (*(placeholder_above(document, section) if section else ()), *edits))


def with_output(state: TaskState, text: str) -> str:
    """Return a state file's text with the Chain Output that a text gives, part by part under their headings.

    What stands before the first heading is the summary.

    Raises:
        TaskstateError: as `with_part`; code "not-found": a heading names no part; code "empty": there is nothing.
    """
    document = parse(escaping.clean(text, what="the output"))
    heads = [each for each in document.sections if each.level <= PART_LEVEL and section_key(each.title) != _OWN_NAME]
    own = [each for each in document.sections if section_key(each.title) == _OWN_NAME]
    start = own[0].body.start if own else 0
    pieces = [(_SUMMARY, document.text[start : heads[0].span.start if heads else len(document.text)])]
    pieces += [(each.title, each.body.of(document.text)) for each in heads]
    given = [(title, body) for title, body in pieces if body.strip()]
    if not given:
        raise TaskstateError("the output is empty", help="write what later tasks need to know", code="empty")
    for title, body in given:
        changed = with_part(state, part_title(state, title), body)
        state = read_state(state.document.with_text(changed), state.id)
    return state.document.text


def _structure(state: TaskState) -> list[tuple[int, str]]:
    return [(each.level, each.title) for each in state.document.sections if each.level <= PART_LEVEL]


def _without_own_heading(text: str, title: str) -> str:
    """Return the content of a part without the heading of that part above it, as `chain output --part` prints it."""
    first, _, rest = text.partition("\n")
    heading = re.fullmatch(r" {0,3}#{1,6}\s+(.*)", first)
    return rest.strip("\n") if heading and section_key(heading[1]) == section_key(title) else text


# Files


def named_files(state: TaskState) -> tuple[NamedFile, ...]:
    """Return the files that the Chain Output lists under Files Created/Modified, each once."""
    section, document = state.subsection(chain.OUTPUT, FILES), state.document
    by_path: dict[str, NamedFile] = {}
    for item in document.items(section.body) if section else ():
        for named in _named(item_text(document.text, item.span, item.content)):
            by_path.setdefault(named.path, named)
    return tuple(by_path.values())


def _named(text: str) -> list[NamedFile]:
    """Return the files that a list item names before its remark; an item of plain words names none."""
    text = re.sub(_BOLD, "", with_newlines(text, "\n").strip())
    deleted = bool(re.search(_DELETED, text))
    code_paths = _code_paths(text)
    paths = code_paths or _plain_paths(text)
    return [
        NamedFile(path, deleted, sure=bool(code_paths) or deleted or bool(re.fullmatch(_REAL, path)))
        for text_path in paths
        if (path := _path(text_path)) and not re.match(_ADDRESS, path)
    ]


def _code_paths(text: str) -> list[str]:
    """Return the paths in code marks at the beginning of an item, or in a link there."""
    leading, position = [], 0
    while match := re.compile(_LEADING_CODE).match(text, position):
        leading.append(match[2])
        position = match.end()
    link = re.match(_LINK, text)
    return leading or ([link[1]] if link else [])


def _plain_paths(text: str) -> list[str]:
    """Return the paths of an item that does not begin with code marks: before its remark, or its first word."""
    without_remark = re.sub(_REMARK, "", text).strip()
    if without_remark and not re.search(r"\s", without_remark):
        return [] if without_remark.rstrip(".").casefold() in _NO_FILE else [without_remark.rstrip(":,;")]
    listed = without_remark.split(", ")
    if all(re.fullmatch(_PATH_LIKE, each) for each in listed):
        return listed
    first = text.split(maxsplit=1)[0].rstrip(":,;") if text else ""
    if re.fullmatch(_PATH_LIKE, first):
        return [first]
    coded = (match[2].strip() for match in re.finditer(CODE, text))
    return [each for each in coded if "/" in each and re.fullmatch(_PATH_LIKE, each)][:1]


def _path(written: str) -> str:
    path = re.sub(_LINES, "", written.strip())
    return path.removeprefix("./") if path not in {"", "."} else ""


def is_pattern(path: str) -> bool:
    """Return whether a path has wildcards and may match several files."""
    return bool(re.search(_WILDCARD, path))


# Missing parts


def output_gaps(state: TaskState) -> tuple[Gap, ...]:
    """Return the parts that an output lacks before it can be handed down: its summary, and at least one other part."""
    spec = kind_of(state.document).section(chain.OUTPUT)
    if spec is None:
        return ()
    if state.section(chain.OUTPUT) is None:
        return (Gap("section", f"there is no section {chain.OUTPUT}"),)
    group = spec.some_filled.of if spec.some_filled else ()
    needed = tuple(each.name for each in spec.subsections if COMPLETE in each.must_be_filled)
    unwritten = (name for name in needed if not _is_written(state, name))
    gaps = [Gap(f"part:{name}", f"the {name} of the {chain.OUTPUT} is not written") for name in unwritten]
    if group and not any(_is_written(state, name) for name in group):
        message = f"besides the summary, the {chain.OUTPUT} needs one of {', '.join(group)}"
        gaps.append(Gap("output", message))
    return tuple(gaps)


def _is_written(state: TaskState, name: str) -> bool:
    section = state.subsection(chain.OUTPUT, name)
    text = section.body.of(state.document.text).strip() if section else ""
    return not escaping.is_blank(text) and not kind_of(state.document).is_placeholder(text)
