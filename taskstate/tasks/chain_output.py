"""What a task has brought about, as its Chain Output says it: part by part, and the files that it names.

Pure: whether the files are there, and what they hold, is for those who know the disk.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import TaskstateError
from taskstate.messages import closest
from taskstate.model import chain
from taskstate.model.chain_quotes import parts_of
from taskstate.model.document_kinds import kind_of, section_key
from taskstate.model.statuses import COMPLETE
from taskstate.model.task_state import item_text
from taskstate.syntax import escaping
from taskstate.syntax.document import parse
from taskstate.syntax.spans import Span, with_newlines

if TYPE_CHECKING:
    from taskstate.model.task_state import TaskState

FILES = "Files Created/Modified"
_OTHER = r"[\W_]+"
_LEADING_CODE = r"(`+)(.+?)\1(?!`)[ \t]*(?:,|&|and\b)?[ \t]*"
_CODE = r"(`+)(.+?)\1(?!`)"
_LINK = r"\[[^\]\n]*\]\(<?([^)\s>]+)>?[^)\n]*\)"
_REMARK = r"(?s)\s+(?:[-\u2013\u2014#:]\s|\().*"
_PATH_LIKE = r"(?:[^\s/]+/)+[^\s/]*|[^\s/]*[^\s/.]\.[A-Za-z][A-Za-z0-9]{0,9}|\.[A-Za-z][\w.-]*"
_REAL = (
    r"(?s)(?:\.{0,2}/|~).*|(?:.*/)?(?:[^/]*[^/.])?\.[A-Za-z][A-Za-z0-9_-]{0,20}"  # begins like a path, or ends like one
)
_ADDRESS = r"[A-Za-z][A-Za-z0-9+.-]+:|//|#"  # of a page, or of a place on one
_LINES = r":L?\d+(?:[-:]L?\d+)?\Z"
_BOLD = r"\A(?:\*\*|__)(?=`)"
_DELETED = r"(?i)\((?:file )?(?:deleted|removed)\)"
_WILDCARD = r"[*?\[\]{}]"
_NO_FILE = {"", "none", "nothing", "n/a", "-"}


class OutputPart(NamedTuple):
    """A part of an output: `text` from its heading on, `code` what stands in its code fences, each by itself."""

    title: str
    slug: str
    text: str
    code: tuple[str, ...]


class NamedFile(NamedTuple):
    """A file that an output names, as a path from the repository's root, and whether it says that it is gone.

    What is not `sure` is a word without a mark or an extension: it names a file only where there is one.
    """

    path: str
    deleted: bool = False
    sure: bool = True


class Gap(NamedTuple):
    """A thing that completion asks for and that is not there: `key` names it for good, `words` tell people of it."""

    key: str
    words: str


def slug_of(title: str) -> str:
    """Return the name by which a part is asked for: its title's words in lower case, joined by `-`."""
    return re.sub(_OTHER, "-", section_key(title)).strip("-")


def parts(output: str) -> tuple[OutputPart, ...]:
    """Return the parts of an output; what stands before the first heading is called `lead`."""
    return tuple(_part(text) for text in parts_of(output))


def _part(text: str) -> OutputPart:
    document = parse(text)
    first = document.sections[0] if document.sections and document.sections[0].span.start == 0 else None
    title = first.title if first else ""
    fences = document.blocks_in(Span(0, len(text)), "fence")
    code = tuple(block.content.of(text).rstrip("\n") for block in fences)
    return OutputPart(title=title, slug=slug_of(title) if title else "lead", text=text, code=code)


def find_parts(output: str, name: str, task_id: str) -> tuple[OutputPart, ...]:
    """Return the parts of an output that `name` means by their slug or title: several where headings are alike.

    Raises:
        TaskstateError: code "not-found": there is none.
    """
    found = parts(output)
    wanted = slug_of(name.lstrip("# "))
    meant = tuple(part for part in found if part.slug == wanted)
    if meant:
        return meant
    slugs = [part.slug for part in found]
    near = next((slug for slug in slugs if wanted and slug.startswith(wanted)), closest(wanted, slugs))
    has = f"did you mean {near}?" if near else f"it has: {', '.join(slugs)}"
    raise TaskstateError(f"the output of task {task_id} has no part {name!r}", help=has, code="not-found")


# Files


def named_files(state: TaskState) -> tuple[NamedFile, ...]:
    """Return the files that the Chain Output names under Files Created/Modified, each once."""
    section, document = state.subsection(chain.OUTPUT, FILES), state.document
    found: dict[str, NamedFile] = {}
    for item in document.items(section.body) if section else ():
        for named in _named(item_text(document.text, item.span, item.content)):
            found.setdefault(named.path, named)
    return tuple(found.values())


def _named(text: str) -> list[NamedFile]:
    """Return the files that a list item names before its remark; an item in plain words names none."""
    text = re.sub(_BOLD, "", with_newlines(text, "\n").strip())
    deleted = bool(re.search(_DELETED, text))
    marked = _marked(text)
    found = marked or _bare(text)
    return [
        NamedFile(path, deleted, sure=bool(marked) or deleted or bool(re.fullmatch(_REAL, path)))
        for written in found
        if (path := _path(written)) and not re.match(_ADDRESS, path)
    ]


def _marked(text: str) -> list[str]:
    """Return the paths that stand in code marks at the beginning of an item, or in a link there."""
    leading, at = [], 0
    while match := re.compile(_LEADING_CODE).match(text, at):
        leading.append(match[2])
        at = match.end()
    link = re.match(_LINK, text)
    return leading or ([link[1]] if link else [])


def _bare(text: str) -> list[str]:
    """Return the paths of an item that begins with none in code marks: the words before a remark, or the first one."""
    before = re.sub(_REMARK, "", text).strip()
    if before and not re.search(r"\s", before):
        return [] if before.rstrip(".").casefold() in _NO_FILE else [before.rstrip(":,;")]
    listed = before.split(", ")
    if all(re.fullmatch(_PATH_LIKE, each) for each in listed):
        return listed
    first = text.split(maxsplit=1)[0].rstrip(":,;") if text else ""
    if re.fullmatch(_PATH_LIKE, first):
        return [first]
    coded = (match[2].strip() for match in re.finditer(_CODE, text))
    return [each for each in coded if "/" in each and re.fullmatch(_PATH_LIKE, each)][:1]


def _path(written: str) -> str:
    path = re.sub(_LINES, "", written.strip())
    return path.removeprefix("./") if path not in {"", "."} else ""


def is_pattern(path: str) -> bool:
    """Return whether a path has wildcards, so that it stands for any number of files."""
    return bool(re.search(_WILDCARD, path))


# What an output lacks


def output_gaps(state: TaskState) -> tuple[Gap, ...]:
    """Return what an output lacks to be handed down: its summary, and at least one other part."""
    spec = kind_of(state.kind).section(chain.OUTPUT)
    if spec is None:
        return ()
    if state.section(chain.OUTPUT) is None:
        return (Gap("section", f"there is no section {chain.OUTPUT}"),)
    group = spec.some_filled.of if spec.some_filled else ()
    needed = tuple(each.name for each in spec.subsections if COMPLETE in each.must_be_filled)
    lacking = (name for name in needed if not _is_written(state, name))
    gaps = [Gap(f"part:{name}", f"the {name} of the {chain.OUTPUT} is not written") for name in lacking]
    if group and not any(_is_written(state, name) for name in group):
        words = f"no part of the {chain.OUTPUT} besides the summary is written: one of {', '.join(group)}"
        gaps.append(Gap("output", words))
    return tuple(gaps)


def _is_written(state: TaskState, name: str) -> bool:
    section = state.subsection(chain.OUTPUT, name)
    text = section.body.of(state.document.text).strip() if section else ""
    return not escaping.is_blank(text) and not kind_of(state.kind).is_placeholder(text)
