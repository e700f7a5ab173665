"""`taskstate merge-driver`: what git calls to merge one of our files; `taskstate init` tells it to.

Git waits for nothing here but the exit status: 0 merged, 1 conflicts are marked in the file, anything else a failure,
after which git keeps our version in the working tree and calls the file unmerged. Neither the repository nor its
configuration is looked at: a merge may be the very moment at which they cannot be read.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from taskstate.cli.invocation import add_common

if TYPE_CHECKING:
    import argparse

    from taskstate.cli.invocation import Invocation


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("base", metavar="BASE", help="the file that holds the common version (%%O)")
    parser.add_argument("ours", metavar="OURS", help="the file that holds our version, and gets the result (%%A)")
    parser.add_argument("theirs", metavar="THEIRS", help="the file that holds the other version (%%B)")
    parser.add_argument("name", metavar="NAME", help="the path of the merged file, which tells what it is (%%P)")
    add_common(parser)
    parser.set_defaults(run=run)


def run(invocation: Invocation) -> int:
    """Merge, write the result over our version, and return whether there are conflicts."""
    from taskstate.merge.files import merge_files
    from taskstate.merge.three_way import Versions
    from taskstate.storage import files

    args = invocation.args
    merged = merge_files(Versions(*(files.read(Path(path)) for path in (args.base, args.ours, args.theirs))), args.name)
    files.replace(Path(args.ours), merged.data)
    invocation.print_result({"path": args.name, "conflicts": merged.conflicts}, "", status=0)
    if not merged.conflicts:
        return 0
    invocation.print_notes((f"{args.name}: {merged.conflicts} left to decide; `taskstate lint` names the lines",))
    return 1
