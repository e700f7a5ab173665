"""Finds a template, the repository's own before the built-in one, and fills it in.

A template that the repository brings along runs in a process of its own, with a limit on time and memory: a sandbox
alone does not stop one that counts to infinity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate import resources
from taskstate.errors import TaskstateError
from taskstate.messages import decoded
from taskstate.storage import files
from taskstate.syntax.spans import with_newlines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.workspace.workspace import Workspace


FOLDER = "templates"  # in the state folder: a project's own ones


def source_of(workspace: Workspace, name: str) -> tuple[str, str]:
    """Return where the template `name` lies, and its text: the project's own, or the one that is shipped.

    Raises:
        TaskstateError: the project's own is no text file.
    """
    own = workspace.state_root / FOLDER / name
    if files.size(own) is None:
        return name, resources.text(f"templates/{name}")
    where = workspace.relative(own)
    return where, with_newlines(decoded(files.read(own), f"the template {where}"), "\n")


def fill(workspace: Workspace, name: str, parts: Mapping[str, object]) -> str:
    """Return the template `name` filled in.

    Raises:
        TaskstateError: code "template": it is wrong.
    """
    where, source = source_of(workspace, name)
    # Its own process costs a tenth of a second, which only a template that comes with the repository is worth.
    fill = render if where == name else render_in_subprocess
    try:
        return fill(source, parts)
    except ValueError as error:
        raise TaskstateError(f"the template {where} is wrong: {error}", help="correct it", code="template") from error


TIMEOUT_SECONDS = 3
MAX_MEMORY = 512 * 1024**2  # bytes that filling in may need
MAX_CHARACTERS = 1024**2  # characters of the result
_WRONG = "wrong"
# What the process runs: the same interpreter, finding its modules where this one does.
_PROGRAM = "import sys; sys.path[:] = {path!r}; from taskstate.workspace.templates import serve; serve()"


def render(source: str, parts: Mapping[str, object]) -> str:
    """Return a template filled in.

    Raises:
        ValueError: it is wrong.
    """
    from jinja2 import StrictUndefined, TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    # Autoescape is for HTML; this is Markdown, and everything that comes from outside has gone through `embed`.
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True, autoescape=False
    )
    pieces, length = list[str](), 0
    try:
        for piece in environment.from_string(source).generate(parts):
            pieces.append(piece)
            length += len(piece)
            if length > MAX_CHARACTERS:
                raise ValueError(f"it gives more than {MAX_CHARACTERS} characters")
    except (MemoryError, RecursionError) as error:
        raise ValueError("it takes more memory than there is for it") from error
    except (TemplateError, ArithmeticError, LookupError, TypeError) as error:
        raise ValueError(str(error)) from error
    return "".join(pieces)


def render_in_subprocess(source: str, parts: Mapping[str, object]) -> str:
    """Return a template filled in by another process, which is ended where it takes too long.

    Raises:
        ValueError: the template is wrong, or takes too long, or too much memory.
        TaskstateError: code "template": there is no other process.
    """
    import pickle
    import subprocess
    import sys

    command = (sys.executable or "python3", "-I", "-c", _PROGRAM.format(path=sys.path))
    try:
        done = subprocess.run(
            command,
            input=pickle.dumps((source, dict(parts))),
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ValueError(f"it was not filled in after {TIMEOUT_SECONDS} seconds") from error
    except OSError as error:
        what = f"a template of the repository cannot be filled in: {error.strerror}"
        raise TaskstateError(what, help="take it out of the state folder's templates", code="template") from error
    if done.returncode:
        raise ValueError("it takes more time or memory than there is for it")
    how, _, text = done.stdout.decode("utf-8", "surrogatepass").partition("\n")
    if how == _WRONG:
        raise ValueError(text)
    return text


def serve() -> None:
    """Fill in the template that stands on standard input; the answer is a word and a text."""
    import pickle
    import sys

    source, parts = pickle.loads(sys.stdin.buffer.read())  # noqa: S301 - written by this program, a moment ago
    _limit_resources()
    try:
        answer = f"filled\n{render(source, parts)}"
    except ValueError as error:
        answer = f"{_WRONG}\n{error}"
    sys.stdout.buffer.write(answer.encode("utf-8", "surrogatepass"))


def _limit_resources() -> None:
    """Take no more memory and time than is allowed, and dump no core; where the system knows no such bounds, go on."""
    try:
        import resource
    except ImportError:
        return
    from contextlib import suppress

    for kind, most in (
        (resource.RLIMIT_AS, MAX_MEMORY),
        (resource.RLIMIT_CPU, TIMEOUT_SECONDS + 1),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):  # a lower bound stands already
            resource.setrlimit(kind, (most, most))
