"""Writes the reference of docs/questions.md: the ready-made questions, each with an example, and the tables."""

from __future__ import annotations

import tomllib
from pathlib import Path

from taskstate.query import questions, tables

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- begin of the reference -->", "<!-- end of the reference -->"


def with_reference(page: str) -> str:
    """Return the page with the reference between its two marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    parts = [*map(_question, questions.names()), "## The tables\n", *map(_table, tables.tables())]
    head = "## The ready-made questions\n"
    return f"{before}{BEGIN}\n" + "\n".join([head, *parts]) + f"{END}{after}"


def _question(name: str) -> str:
    """Return a question with what it takes, and what a test plants for it and gets."""
    asked = questions.question(name)
    case = tomllib.loads((ROOT / "tests" / "cases" / "query" / f"{name}.toml").read_text(encoding="utf-8"))
    lines = [f"### `{name}`", "", f"{asked.about}", ""]
    lines += [f"- `--param {each.name}={each.default}`: {each.about}" for each in asked.parameters]
    lines += [""] * bool(asked.parameters)
    words = " ".join(("taskstate query", name, *(f"--param {each}" for each in case.get("param", ()))))
    answer = case["answer"].strip("\n")
    lines += [str(case["about"]), "", "```console", f"$ {words} --output-format csv", answer, "```", ""]
    return "\n".join(lines)


def _table(name: str) -> str:
    """Return a table with its columns; the text beside a time is said once, above all tables."""
    table = tables.tables()[name]
    beside = {f"{column}_text" for column, each in table.columns.items() if each.type == tables.TIMESTAMP}
    told = {column: each for column, each in table.columns.items() if column not in beside}
    rows = [
        f"| {'**' * (column in table.key)}`{column}`{'**' * (column in table.key)} | {each.type} | {each.about} |"
        for column, each in told.items()
    ]
    about = f"{table.about[0].upper()}{table.about[1:]}."
    return "\n".join(
        [f"### `{name}`", "", about, "", "| column | type | what it holds |", "| --- | --- | --- |", *rows, ""]
    )
