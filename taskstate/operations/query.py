"""`query`: answers questions over all tasks of the repository with SQL."""

from __future__ import annotations

from contextlib import ExitStack
from math import inf

from taskstate.errors import TaskstateError
from taskstate.operations.call import usage_error
from taskstate.operations.operation import Operation, option, positional, switch
from taskstate.operations.result import Result
from taskstate.query.printing import FORMATS, UNFOLDED
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from taskstate.operations.call import Call, Source
    from taskstate.operations.operation import Name, Text
    from taskstate.query.engine import Answer

# What says how a question is asked, and goes with nothing that asks none.
_ASKING = ("--sql", "--sql-file", "--param", "--index", "--output-format", "--output", "--limit", "--timeout")
_LISTING = ("--list", "--schema", "--show-sql")


class Query(NamedTuple):
    """The arguments of `query`."""

    name: str | None = positional("NAME", "a ready-made question; --list shows them")
    sql: Text | None = option("TEXT", "ask in SQL of your own; - reads standard input")
    sql_file: Source | None = option("FILE", "the same from a file")
    param: tuple[str, ...] = option("K=V", "a value that the question takes, such as days=30")
    fleet: Name | None = option("FOLDER", "ask the index of many repositories in this folder", flag="index")
    output_format: str = option("", "format of the answer (default: what FILE ends with, else table)", choices=FORMATS)
    output: Name | None = option("FILE", "write the answer to a file")
    limit: int = option("N", "at most so many rows (default: all)", default=0)
    timeout: float = option("SECONDS", "end the question after so long (default: never)", default=0.0)
    show_sql: bool = switch("print the SQL of a ready-made question, and do not ask it")
    listed: bool = switch("list the ready-made questions with what they take", flag="list")
    schema: bool = switch("list the tables; with a table as NAME, its columns")
    rebuild: bool = switch("read all files again, and ask nothing unless a question is given")


def query(call: Call, asked: Query) -> Result:
    """Answer a question over all tasks: a ready-made one, or SQL of your own over the same tables.

    What files say stands in an index in the private cache, which is brought up to date first; deleting it loses
    nothing. SQL can read its tables and nothing else. Needs the extra `taskstate[query]`.
    """
    from taskstate.query import describing, engine, questions

    _require_sensible(asked)
    if asked.listed or asked.schema:
        shapes = describing.question_shapes() if asked.listed else describing.table_shapes(asked.name)
        key = "questions" if asked.listed else "columns" if asked.name else "tables"
        return Result({key: shapes}, describing.text_of(shapes, _width(call)), is_in_rows=True)
    question = questions.question(asked.name) if asked.name else None
    if asked.show_sql and question:
        return Result({"name": question.name, "sql": question.sql}, question.sql.rstrip("\n"), is_document=True)
    given = questions.pairs(asked.param)
    engine.require_installed()
    sql = question.sql if question else asked.sql or (asked.sql_file.text() if asked.sql_file else "")
    values = questions.values(question, given, call.now()) if question else given
    return _answered(call, asked, sql, values)


def _require_sensible(asked: Query) -> None:
    if asked.limit < 0 or not 0 <= asked.timeout < inf:
        raise usage_error("query: --limit and --timeout are numbers from 0 on", help="leave it out for no bound")
    ways = [bool(asked.name and not asked.schema), asked.sql is not None, asked.sql_file is not None]
    if asked.show_sql and not asked.name:
        raise usage_error("query: --show-sql needs the name of a question", help="`taskstate query --list` lists them")
    if sum(ways) > 1:
        raise usage_error("query: there are several questions", help="give a name, --sql or --sql-file")
    if asked.listed and asked.name:
        raise usage_error("query: --list lists all questions, and takes no name", help="leave the name out")
    how = any((asked.param, asked.output_format, asked.output, asked.limit, asked.timeout))
    if not any((*ways, asked.listed, asked.schema, asked.rebuild and not how)):
        help_ = "`taskstate query --list` lists the ready-made ones; --sql takes your own"
        raise usage_error("query: there is no question", help=help_)
    if _form_of(asked) == "parquet" and asked.output in {None, "-"}:
        raise usage_error("query: Parquet is nothing for a terminal", help="name a file: --output answer.parquet")


def _answered(call: Call, asked: Query, sql: str, values: Mapping[str, object]) -> Result:
    """Answer from the index of this repository, or from one of many, which is read and not changed.

    Raises:
        TaskstateError: code "usage": the answer is nested too deeply.
    """
    from taskstate.query import engine, index
    from taskstate.storage import temporary

    config = call.config().query if asked.fleet else call.workspace.config.query
    bounds = engine.Bounds(config.memory_mb, config.threads, asked.timeout)
    with temporary.folder("taskstate-query-") as folder, ExitStack() as stack:
        if asked.fleet:
            from taskstate.fleet import manifest

            connection = stack.enter_context(manifest.asking(asked.fleet, bounds))
        else:
            found = stack.enter_context(index.up_to_date(call.workspace, rebuild=asked.rebuild))
            if not (asked.name or asked.sql is not None or asked.sql_file):
                told = f"{found.read} of {found.files} files were read"
                return Result({"files": found.files, "read": found.read}, told)
            more = index.of_repository(call.workspace, sql, folder, call.now())
            connection = stack.enter_context(engine.locked(found.path, bounds, more))
        answer = engine.ask(connection, sql, values, bounds, most=asked.limit)
        if answer.is_cut and not call.as_data:
            call.notes((f"only the first {asked.limit} rows are shown, as --limit says",))
        try:
            return _formed(call, asked, answer, folder)
        except RecursionError as error:
            message = "the answer is nested too deeply to be shown"
            raise TaskstateError(message, help="`unnest` it", code="usage") from error


def _form_of(asked: Query) -> str:
    ending = (asked.output or "").rpartition(".")[2].casefold()
    return asked.output_format or (ending if ending in FORMATS else FORMATS[0])


def _width(call: Call) -> int:
    return call.width if call.screen.is_live else UNFOLDED


def _formed(call: Call, asked: Query, answer: Answer, folder: Path) -> Result:
    """Return an answer in the wanted form, or write it to the named file."""
    from taskstate.query import printing

    if asked.output not in {None, "-"}:
        return _written(call, asked, answer, folder)
    data, form = {"rows": printing.shape_of(answer), "is_cut": answer.is_cut}, _form_of(asked)
    if form != printing.TABLE:
        return Result(data, "", raw=printing.as_bytes(answer, form), is_json=form != printing.CSV)
    if not answer.rows and not call.as_data:
        call.notes(("nothing found",))
    return Result(data, printing.text_of(answer, _width(call)), is_in_rows=True)


def _written(call: Call, asked: Query, answer: Answer, folder: Path) -> Result:
    from taskstate.messages import counted
    from taskstate.query import engine, index, printing
    from taskstate.storage import files
    from taskstate.storage.paths import real
    from taskstate.syntax.spans import one_line
    from taskstate.workspace.artifacts import require_not_own

    form = _form_of(asked)
    if form == printing.PARQUET:
        made = folder / "answer.parquet"
        engine.parquet(answer, index.written(folder, "answer", printing.shape_of(answer, is_exact=True)), made)
        data = files.read(made, files.MAX_BYTES)
    else:
        data = printing.as_bytes(answer, form)
    path = real(str(asked.output))
    require_not_own(call.any_workspace, path)
    files.replace(path, data)
    told = f"{one_line(str(asked.output))}: {counted(len(answer.rows), 'row')}"
    return Result({"output": asked.output, "rows": len(answer.rows), "bytes": len(data)}, told)


OPERATIONS = (
    Operation(
        "query",
        "answer questions over all tasks, ready-made or in SQL",
        query,
        Query,
        apart=(
            *((listing, asking) for listing in _LISTING for asking in (*_ASKING, "--rebuild")),
            *(_LISTING, ("--index", "--rebuild")),
        ),
    ),
)
