"""Looks for a text that the linter cannot bear, guided by which lines of the linter a text reaches (atheris).

    .venv/bin/python -m tests.fuzz.run 60      for so many seconds
    .venv/bin/python -m tests.fuzz.run FILE    one text that was found

`make fuzz` runs this beside the laws in tests/properties. What is found is kept under .cache/fuzz, as is what is worth
to begin with the next time. A text that is found becomes a case in tests/cases/lint.
"""

from __future__ import annotations

import pkgutil
import sys
from importlib import import_module
from pathlib import Path
from random import SystemRandom
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER = Path(__file__).parent.parent.parent / ".cache" / "fuzz"
SLOW = 10  # seconds for one text; libFuzzer takes more for a crash
_TEXTS_A_SECOND = 6
_TOKENS = range(3, 60)  # bytes of a line that is worth being put into other texts


def tokens(seeds: Iterable[bytes]) -> str:
    """Return the lines of `seeds` as a dictionary of libFuzzer, so that whole lines are put in and taken out."""
    lines = {line for seed in seeds for line in seed[1:].split(b"\n") if len(line) in _TOKENS}
    return "".join(f'"{"".join(map(_byte, line))}{_byte(10)}"\n' for line in sorted(lines))


def _byte(byte: int) -> str:
    return f"\\x{byte:02x}"


def main(argument: str) -> None:
    """Search for some seconds, or run one file; what is found ends the process with another status than 0."""
    try:
        import atheris
    except ImportError:
        sys.stdout.write(
            "fuzz: there is no atheris here (it has wheels for Linux on x86-64), so only the laws are tried\n"
        )
        return
    with atheris.instrument_imports(include=["taskstate"]):
        package = import_module("taskstate")
        for module in pkgutil.walk_packages(package.__path__, "taskstate."):
            if module.name != "taskstate.__main__":
                import_module(module.name)
        target = import_module("tests.fuzz.lint_any_text")
    flags = [f"-max_len={target.LONGEST}", f"-timeout={SLOW}", f"-artifact_prefix={FOLDER}/"]
    flags += _search(argument, target.seeds()) if argument.isdecimal() else [argument]
    atheris.Setup([sys.argv[0], *flags], target.one_input)
    atheris.Fuzz()


def _search(seconds: str, seeds: list[bytes]) -> list[str]:
    """Return the arguments for a search, and lay out what it begins with.

    libFuzzer looks at all that it begins with before it looks at the clock: so it gets as many texts as there is time
    for, each time others, of the damaged corpus and of what earlier searches found worth keeping.
    """
    begin, kept, new = (FOLDER / name for name in ("begin", "kept", "new"))
    for folder in (begin, kept, new):
        folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds):
        (begin / f"{number:04}").write_bytes(seed)
    for path in new.iterdir():
        path.rename(kept / path.name)
    texts = sorted(map(str, (*begin.iterdir(), *kept.iterdir())))
    chosen = SystemRandom().sample(texts, min(len(texts), _TEXTS_A_SECOND * int(seconds)))
    (FOLDER / "chosen").write_text(",".join(chosen), encoding="utf-8")
    (FOLDER / "tokens").write_text(tokens(seeds), encoding="ascii")
    limits = [f"-max_total_time={seconds}", f"-dict={FOLDER / 'tokens'}", f"-seed_inputs=@{FOLDER / 'chosen'}"]
    return [*limits, str(new)]


if __name__ == "__main__":
    main(sys.argv[1])
