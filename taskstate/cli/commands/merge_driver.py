"""`taskstate merge-driver`: the merge driver that git calls for state files; `taskstate init` configures it.

git reads only the exit status: 0 for merged, 1 for conflicts marked in the file, anything else for a failure, after
which git keeps our version in the working tree as unmerged. The configuration is not read, since it may be unreadable
in the middle of a merge; of the repository only archives are, for the sessions that one side archived, and the Impact
Map that a section names.
"""

from __future__ import annotations

from pathlib import Path

from taskstate.cli.arguments import Parser
from taskstate.cli.invocation import Invocation
from taskstate.storage.paths import real


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument("base", metavar="BASE", help="file with the common version (%%O)")
    parser.add_argument("ours", metavar="OURS", help="file with our version, overwritten by the result (%%A)")
    parser.add_argument("theirs", metavar="THEIRS", help="file with the other version (%%B)")
    parser.add_argument("name", metavar="NAME", help="path of the merged file in the repository (%%P)")
    parser.add_common(run=run)


def run(invocation: Invocation) -> int:
    """Merge, overwrite our version, and return whether there are conflicts."""
    from taskstate.merge.conservation import lost_sessions
    from taskstate.merge.files import merge_files
    from taskstate.merge.linked_maps import with_merged_links
    from taskstate.merge.three_way import Versions
    from taskstate.storage import files

    args = invocation.args
    versions = Versions(*(files.read(real(path)) for path in (args.base, args.ours, args.theirs)))
    merged = merge_files(with_merged_links(versions, args.name, Path()), args.name)
    lost = () if merged.conflicts else lost_sessions(versions, merged.data, args.name, Path())
    if lost:
        numbers = ", ".join(map(str, lost))
        message = f"session {numbers} would get lost: archived on one side, and in no archive; ours stays, unmerged"
        invocation.print_problems((f"{args.name}: {message}",))
        return 1
    files.replace(real(args.ours), merged.data)
    invocation.print_result({"path": args.name, "conflicts": merged.conflicts}, "", status=0)
    if not merged.conflicts:
        return 0
    invocation.print_notes((f"{args.name}: {merged.conflicts} left to decide; `taskstate lint` names the lines",))
    return 1
