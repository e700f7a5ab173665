"""Looks the installed packages up in a public database of known holes, and never takes silence for a good answer.

pip-audit ends well where the database knows none of the packages, as when a proxy answers for it, and with a traceback
where it cannot be reached. Here only a package that was looked up counts as free of holes.

Exit status: 0 if every package was looked up and has no known hole, 1 if one has, 2 if the question has no answer.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any, NamedTuple

_COMMAND = ("--local", "--skip-editable", "--format", "json", "--desc", "off", "--progress-spinner", "off")
_EDITABLE = "distribution marked as editable"  # this package itself, which no database has
_MOST = 300  # characters of what pip-audit says
_SHOWN = 5  # packages
_CURE = "run `make audit` where the public package index (pypi.org) can be reached"


class Verdict(NamedTuple):
    """The exit status of an audit, and the lines that say why."""

    status: int
    lines: tuple[str, ...]


def verdict(answer: str, complaint: str) -> Verdict:
    """Return what follows from pip-audit's standard output and standard error."""
    try:
        packages: list[dict[str, Any]] = json.loads(answer)["dependencies"]
    except (ValueError, KeyError, TypeError):
        reason = complaint.strip().rpartition("\n")[2] or "it says nothing"
        return Verdict(2, (f"audit: no answer from the database of known holes: {reason[:_MOST]}", _CURE))
    asked = [each for each in packages if each.get("skip_reason") != _EDITABLE]
    unknown = [each["name"] for each in asked if "skip_reason" in each]
    holes = [_hole(each, hole) for each in asked for hole in each.get("vulns", ())]
    lines = tuple(holes)
    if unknown or not asked:
        some = ", ".join(unknown[:_SHOWN]) + (" …" if len(unknown) > _SHOWN else "")
        lines += (
            f"audit: {len(unknown)} of {len(asked)} packages were not looked up: {some or 'there are none'}",
            _CURE,
        )
    elif not holes:
        lines += (f"audit: none of the {len(asked)} packages has a known hole",)
    return Verdict(1 if holes else 2 if unknown or not asked else 0, lines)


def _hole(package: dict[str, Any], hole: dict[str, Any]) -> str:
    mended = ", ".join(hole.get("fix_versions", ())) or "no version yet"
    return f"audit: {package['name']} {package['version']} has a known hole, {hole['id']}; mended in {mended}"


def main() -> int:
    """Ask pip-audit, and print and return the verdict."""
    done = subprocess.run(
        (sys.executable, "-m", "pip_audit", *_COMMAND), capture_output=True, text=True, check=False, errors="replace"
    )
    status, lines = verdict(done.stdout, done.stderr)
    print("\n".join(lines), file=sys.stderr if status else sys.stdout)
    return status


if __name__ == "__main__":
    raise SystemExit(main())
