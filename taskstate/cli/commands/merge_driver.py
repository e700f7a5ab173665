"""`taskstate merge-driver`: the merge driver that git calls for state files; `taskstate init` configures it.

git reads only the exit status: 0 for merged, 1 for conflicts marked in the file, anything else for a failure, after
which git keeps our version in the working tree as unmerged. The configuration is not read, since it may be unreadable
in the middle of a merge; of the repository only archives are, for the sessions that one side archived, and the Impact
Map that a section names.
"""

from __future__ import annotations

from pathlib import Path

from taskstate.operations.operation import Operation, positional
from taskstate.operations.result import Result
from taskstate.storage.paths import real
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call


class MergeDriver(NamedTuple):
    """The arguments of `merge-driver`."""

    base: str = positional("BASE", "file with the common version (%O)")
    ours: str = positional("OURS", "file with our version, overwritten by the result (%A)")
    theirs: str = positional("THEIRS", "file with the other version (%B)")
    name: str = positional("NAME", "path of the merged file in the repository (%P)")


def run(call: Call, asked: MergeDriver) -> Result:
    """Merge two versions of a state file; called by git."""
    from taskstate.merge.linked_maps import with_merged_links
    from taskstate.merge.merge_files import merge_files
    from taskstate.recovery.conservation import lost_sessions, without_archived
    from taskstate.storage import files
    from taskstate.units.three_way import Versions

    versions = Versions(*(files.read(real(path)) for path in (asked.base, asked.ours, asked.theirs)))
    sides = without_archived(with_merged_links(versions, asked.name, Path()), asked.name, Path())
    merged = merge_files(sides, asked.name)
    lost = () if merged.conflicts else lost_sessions(sides, merged.data, asked.name, Path())
    data = {"path": asked.name, "conflicts": merged.conflicts}
    if lost:
        numbers = ", ".join(map(str, lost))
        message = f"session {numbers} would get lost: archived on one side, and in no archive; ours stays, unmerged"
        call.problems((f"{asked.name}: {message}",))
        return Result(data, "", 1)
    files.replace(real(asked.ours), merged.data)
    if merged.conflicts:
        call.notes((f"{asked.name}: {merged.conflicts} left to decide; `taskstate lint` names the lines",))
    return Result(data, "", 1 if merged.conflicts else 0)


OPERATIONS = (Operation("merge-driver", "merge two versions of a state file; called by git", run, MergeDriver),)
