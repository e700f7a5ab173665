from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from typing import Any

CODE = """
import json, sys
from pathlib import Path
from tests.torture import Torture, torture
counted = torture(Path(sys.argv[1]), Torture(*map(int, sys.argv[2:])))
print(json.dumps(counted._asdict()))
"""


def tortured(root: Path, *how: int) -> dict[str, Any]:
    """Return what was counted, in a process of its own: it changes the working folder and the environment."""
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(root), *map(str, how)],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    counted: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return counted


@pytest.mark.slow
def test_many_writers_lose_nothing(tmp_path: Path) -> None:
    """Sessions, features, criteria and archivings of several processes on three tasks are all there, each once."""
    counted = tortured(tmp_path, 4, 8, 0, 1)
    assert counted["wrong"] == []
    assert counted["refused"] == {}
    assert sum(counted["acknowledged"].values()) == 32
    assert counted["gone"] == 0


@pytest.mark.slow
def test_many_writers_among_editors_lose_nothing(tmp_path: Path) -> None:
    """The same while somebody saves stale copies over the files, by rename and in place: what goes comes back."""
    counted = tortured(tmp_path, 4, 10, 2, 2)
    assert counted["wrong"] == []
    assert set(counted["refused"]) <= {"archive: session-order", "archive: recover-conflict"}
    assert set(counted["saves"]) == {"save by rename", "save in place"}
    assert counted["gone"] > 0
