"""Tests the tests: changes the code in one place at a time, and reports the changes that no test notices.

mutmut's operators make the changes. Its runner is not used: it takes no sample, and would first time the whole test
suite. The sample is drawn from the places of `PACKAGES` at which something can be changed; the same seed on the same
code gives the same sample. All of it happens in a copy of the tree. mypy refuses many of the changes too; here only
tests count.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import difflib
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import libcst as cst
from junitparser import JUnitXml
from mutmut.mutation.file_mutation import MutationVisitor, deep_replace
from mutmut.mutation.mutators import mutation_operators
from mutmut.mutation.pragma_handling import IgnoredCode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("syntax", "model", "archive", "merge", "recovery", "snapshots", "qa", "evidence")
NOT_COPIED = shutil.ignore_patterns(".git", ".venv", ".*cache", ".hypothesis", "__pycache__", "build", "dist", "site")
PYTEST = (sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:randomly", "-p", "no:cacheprovider")
KILLED, TIMED_OUT, SURVIVED = "killed", "timed out", "survived"
SLACK = 5  # how many times as long as on the unchanged code the tests may take: the machine may do other things too
MEMORY = 4 << 30  # bytes: a loop that never ends may also append to a list


class Mutant(NamedTuple):
    """A module with one place changed; `path` is relative to the root."""

    path: Path
    before: str
    after: str

    def diff(self) -> list[str]:
        """Return the change as the lines of a unified diff."""
        texts = self.before.splitlines(), self.after.splitlines()
        return list(difflib.unified_diff(*texts, str(self.path), str(self.path), n=2, lineterm=""))

    def line(self) -> int:
        """Return the number of the first line that differs."""
        pairs = zip(self.before.splitlines(), self.after.splitlines(), strict=False)
        return next((number for number, (old, new) in enumerate(pairs, 1) if old != new), 1)


def sample(seed: int, count: int) -> list[Mutant]:
    """Return one mutant for each of `count` places drawn at random, in the order of modules."""
    draw = random.Random(seed)  # noqa: S311 - it has to be repeatable, not secret
    modules = sorted(chain.from_iterable((ROOT / "taskstate" / package).rglob("*.py") for package in PACKAGES))
    places = [(path, *place) for path in modules for place in _places(path)]
    print(f"seed {seed}: {min(count, len(places)):,} of {len(places):,} places in {len(modules)} modules", flush=True)
    drawn = sorted(draw.sample(range(len(places)), min(count, len(places))))
    return [_mutant(path, module, draw.choice(changes)) for path, module, changes in map(places.__getitem__, drawn)]


def _places(path: Path) -> Iterator[tuple[cst.Module, list[tuple[cst.CSTNode, cst.CSTNode]]]]:
    """Yield for each place its module and what it can be changed into; a call has as many changes as arguments."""
    visitor = MutationVisitor(mutation_operators, IgnoredCode(set(), set(), set()))
    module = cst.MetadataWrapper(cst.parse_module(path.read_bytes())).visit(visitor)
    places: dict[int, list[tuple[cst.CSTNode, cst.CSTNode]]] = defaultdict(list)
    for mutation in visitor.mutations:
        places[id(mutation.original_node)].append((mutation.original_node, mutation.mutated_node))
    for changes in places.values():
        yield module, changes


def _mutant(path: Path, module: cst.Module, change: tuple[cst.CSTNode, cst.CSTNode]) -> Mutant:
    changed = cast("cst.Module", deep_replace(module, *change))
    return Mutant(path.relative_to(ROOT), module.code, changed.code)


def imports_of_tests() -> dict[Path, set[str]]:
    """Return what each test file imports; those that drive the command line are left out, since they are slow."""
    found: dict[Path, set[str]] = {}
    for path in sorted(ROOT.glob("tests/**/test_*.py")):
        test = path.relative_to(ROOT)
        if test.parts[1] not in {"acceptance", "benchmarks", "cli"}:
            nodes = [node for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.ImportFrom)]
            found[test] = {f"{node.module}.{alias.name}" for node in nodes for alias in node.names}
            found[test].update(node.module for node in nodes if node.module)
    return found


def tests_of(module: Path, imports: Mapping[Path, set[str]]) -> list[Path]:
    """Return the test files that should notice a change of `module`, the nearest first.

    They are its mirror, the laws that import the module, and the rest of the mirror's folder. A module without a
    mirror is also tested by whatever else imports it.
    """
    mirror = Path("tests", *module.parts[1:-1], f"test_{module.name}")
    name = ".".join(module.with_suffix("").parts)
    near = {path for path, names in imports.items() if name in names}
    if mirror in imports:
        near = {path for path in near if path.parent in {mirror.parent, Path("tests/properties")}}
    folder = {path for path in imports if path.parent == mirror.parent}
    return sorted(near | folder, key=lambda path: (path != mirror, path not in near, path))


def baseline(tree: Path, tests: Iterable[Path]) -> dict[Path, float]:
    """Return how many seconds each test file takes on the unchanged code, on which all must pass."""
    report = tree.parent / "report.xml"
    files = sorted(set(tests))
    print(f"running {len(files)} test files on the unchanged code", flush=True)
    if subprocess.run([*PYTEST, f"--junitxml={report}", *files], cwd=tree, check=False).returncode:
        sys.exit("mutants: the tests must pass first")
    cases = [(f"{case.classname}.", case.time) for case in chain.from_iterable(JUnitXml.fromfile(str(report)))]
    names = {file: ".".join([*file.with_suffix("").parts, ""]) for file in files}
    return {file: sum(time for name, time in cases if name.startswith(names[file])) for file in files}


def judge(mutant: Mutant, tree: Path, tests: Sequence[Path], limit: float) -> str:
    """Return whether the tests kill the mutant: it stands in `tree` for as long as they run."""
    path = tree / mutant.path
    status = path.stat()
    path.write_text(mutant.after, encoding="utf-8", newline="")
    try:
        return _verdict(tree, tests, limit)
    finally:
        path.write_text(mutant.before, encoding="utf-8", newline="")
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))  # by it Python knows the compiled file again


def _verdict(tree: Path, tests: Sequence[Path], limit: float) -> str:
    process = subprocess.Popen(
        [*PYTEST, *tests],
        cwd=tree,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},  # no compiled mutant outlives its run
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return KILLED if process.wait(limit) else SURVIVED
    except subprocess.TimeoutExpired:
        return TIMED_OUT
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # with it the processes that a test has started
        process.wait()


def run(mutants: Mapping[int, Mutant], tree: Path) -> dict[int, str]:
    """Return the verdict on each mutant, reporting each as it comes."""
    imports = imports_of_tests()
    tests = {path: tests_of(path, imports) for path in {mutant.path for mutant in mutants.values()}}
    seconds = baseline(tree, chain.from_iterable(tests.values()))
    verdicts: dict[int, str] = {}
    for number, mutant in mutants.items():
        mine = tests[mutant.path]
        start = time.monotonic()
        verdicts[number] = judge(mutant, tree, mine, SLACK * (sum(seconds[test] for test in mine) + 4))
        took = time.monotonic() - start
        print(f"{number:4} {verdicts[number]:9} {took:5.1f} s  {mutant.path}:{mutant.line()}", flush=True)
    return verdicts


def report(mutants: Mapping[int, Mutant], verdicts: Mapping[int, str]) -> None:
    """Print the survivors as diffs, and the score."""
    for number, mutant in mutants.items():
        if verdicts[number] == SURVIVED:
            print(f"\nmutant {number} survived", *mutant.diff(), sep="\n")
    counts = Counter(verdicts.values())
    noticed = counts[KILLED] + counts[TIMED_OUT]
    print("\n" + ", ".join(f"{counts[verdict]} {verdict}" for verdict in (KILLED, TIMED_OUT, SURVIVED)))
    print(f"score: {noticed / max(len(verdicts), 1):.1%}")


def main() -> int:
    """Run the sample, or those of its mutants whose numbers are given."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("numbers", nargs="*", type=int, metavar="NUMBER", help="run only these mutants of the sample")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    args = parser.parse_args()
    with contextlib.suppress(ValueError):  # macOS has no such limit
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    drawn = enumerate(sample(args.seed, args.count), 1)
    mutants = {number: mutant for number, mutant in drawn if not args.numbers or number in args.numbers}
    with tempfile.TemporaryDirectory(prefix="taskstate-mutants-") as folder:
        tree = Path(folder, "tree")
        shutil.copytree(ROOT, tree, ignore=NOT_COPIED)
        os.environ |= {"HYPOTHESIS_PROFILE": "quick", "PYTHONPATH": str(tree)}
        verdicts = run(mutants, tree)
    report(mutants, verdicts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
