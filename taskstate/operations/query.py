"""`query`: answers questions over all tasks of the repository with SQL."""

from __future__ import annotations

from math import inf

from taskstate.errors import TaskstateError
from taskstate.operations.call import usage_error
from taskstate.operations.operation import Operation, option, positional, switch
from taskstate.operations.result import Result
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from taskstate.operations.call import Call, Source
    from taskstate.operations.operation import Name, Text
    from taskstate.query.engine import Answer

_FORMATS = ("table", "csv", "json", "ndjson", "parquet")


class Query(NamedTuple):
    """The arguments of `query`."""

    name: str | None = positional("NAME", "a ready-made question; --list shows them")
    sql: Text | None = option("TEXT", "ask in SQL of your own; - reads standard input")
    sql_file: Source | None = option("FILE", "the same from a file")
    param: tuple[str, ...] = option("K=V", "a value that the question takes, such as days=30; may be repeated")
    fleet: Name | None = option("FOLDER", "ask the index of many repositories in this folder", flag="index")
    output_format: str = option("", "format of the answer (default: table)", choices=_FORMATS)
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
    from taskstate.query import describing, engine, printing, questions

    _require_sensible(asked)
    width = call.width if call.screen.is_live else printing.UNFOLDED
    if asked.listed:
        return Result({"questions": describing.question_shapes()}, describing.question_list(width), is_in_rows=True)
    if asked.schema:
        shapes, key = describing.table_shapes(asked.name), "columns" if asked.name else "tables"
        return Result({key: shapes}, describing.table_list(asked.name, width), is_in_rows=True)
    question = questions.question(asked.name) if asked.name else None
    if asked.show_sql and question:
        return Result({"name": question.name, "sql": question.sql}, question.sql.rstrip("\n"), is_document=True)
    given = questions.pairs(asked.param)
    engine.require_installed()
    sql = question.sql if question else asked.sql or (asked.sql_file.text() if asked.sql_file else "")
    values = questions.values(question, given, call.now()) if question else given
    return (_answered_by_fleet if asked.fleet else _answered)(call, asked, sql, values)


def _require_sensible(asked: Query) -> None:
    if asked.limit < 0 or not 0 <= asked.timeout < inf:
        raise usage_error("query: --limit and --timeout are numbers from 0 on", help="leave it out for no bound")
    ways = [bool(asked.name and not asked.schema), asked.sql is not None, asked.sql_file is not None]
    if asked.show_sql and not asked.name:
        raise usage_error("query: --show-sql needs the name of a question", help="`taskstate query --list` lists them")
    if sum(ways) > 1:
        help_ = "give a name, --sql or --sql-file"
        raise usage_error("query: there are several questions", help=help_)
    if not any((*ways, asked.listed, asked.schema, asked.rebuild)):
        help_ = "`taskstate query --list` lists the ready-made ones; --sql takes your own"
        raise usage_error("query: there is no question", help=help_)
    if asked.output_format == "parquet" and asked.output in {None, "-"}:
        raise usage_error("query: Parquet is nothing for a terminal", help="name a file: --output answer.parquet")


def _answered_by_fleet(call: Call, asked: Query, sql: str, values: Mapping[str, object]) -> Result:
    """Answer from an index of many repositories, which is read and not changed."""
    from taskstate.fleet import manifest
    from taskstate.query import engine
    from taskstate.storage import temporary

    config = call.config().query
    bounds = engine.Bounds(config.memory_mb, config.threads, asked.timeout)
    with (
        temporary.folder("taskstate-query-") as folder,
        manifest.asking(str(asked.fleet), bounds) as connection,
    ):
        answer = engine.ask(connection, sql, values, bounds, most=asked.limit)
        return _shown(call, asked, answer, folder)


def _answered(call: Call, asked: Query, sql: str, values: Mapping[str, object]) -> Result:
    from taskstate.query import engine, index
    from taskstate.storage import temporary

    workspace, config = call.workspace, call.workspace.config.query
    bounds = engine.Bounds(config.memory_mb, config.threads, asked.timeout)
    with index.up_to_date(workspace, rebuild=asked.rebuild) as found:
        if not sql and asked.rebuild and asked.sql is None and asked.sql_file is None:
            told = f"{found.read} of {found.files} files were read"
            return Result({"files": found.files, "read": found.read}, told)
        with temporary.folder("taskstate-query-") as folder:
            more = index.of_repository(workspace, sql, folder, call.now())
            with engine.locked(found.path, bounds, more) as connection:
                answer = engine.ask(connection, sql, values, bounds, most=asked.limit)
            return _shown(call, asked, answer, folder)


def _shown(call: Call, asked: Query, answer: Answer, folder: Path) -> Result:
    """Return an answer in the wanted form, or write it to the named file.

    Raises:
        TaskstateError: code "usage": it is nested too deeply.
    """
    if answer.is_cut and not call.as_data:
        call.notes((f"only the first {asked.limit} rows are shown, as --limit says",))
    try:
        return _formed(call, asked, answer, folder)
    except RecursionError as error:
        message = "the answer is nested too deeply to be shown"
        raise TaskstateError(message, help="`unnest` it", code="usage") from error


def _formed(call: Call, asked: Query, answer: Answer, folder: Path) -> Result:
    from taskstate.query import printing

    if asked.output not in {None, "-"}:
        return _written(call, asked, answer, folder)
    data, form = {"rows": printing.shape_of(answer), "is_cut": answer.is_cut}, asked.output_format or printing.TABLE
    if form == printing.TABLE:
        width = call.width if call.screen.is_live else printing.UNFOLDED
        text = printing.text_of(answer, width)
        if not answer.rows and not call.as_data:
            call.notes(("nothing found",))
        return Result(data, text, is_in_rows=True)
    raw = printing.as_bytes(answer, form)
    return Result(data, "", raw=raw, is_json=form != printing.CSV)


def _written(call: Call, asked: Query, answer: Answer, folder: Path) -> Result:
    from taskstate.messages import counted
    from taskstate.query import engine, index, printing
    from taskstate.storage import files
    from taskstate.storage.paths import real
    from taskstate.syntax.spans import one_line
    from taskstate.workspace.artifacts import require_not_own

    form = asked.output_format or printing.TABLE
    if form == printing.PARQUET:
        made = folder / "answer.parquet"
        engine.parquet(answer, index.written(folder, "answer", printing.exact_shape_of(answer)), made)
        data = files.read(made, files.MAX_BYTES)
    elif form == printing.TABLE:
        data = (printing.text_of(answer, printing.UNFOLDED) + "\n").encode("utf-8", "replace")
    else:
        data = printing.as_bytes(answer, form)
    path = real(str(asked.output))
    if not asked.fleet:
        require_not_own(call.workspace, path)
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
            *(("--list", "--schema"), ("--list", "--rebuild"), ("--schema", "--rebuild")),
            *(("--show-sql", "--output"), ("--index", "--rebuild")),
        ),
    ),
)
