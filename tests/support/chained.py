"""A repository in which task 102 depends on task 101, for tests of what is handed down."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from taskstate.model.chain import inputs_of
from taskstate.tasks import checklist, complete
from tests.support.place import Place

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.writing.change import Outcome

WRITTEN = """### Summary

Tokens are issued.

    indented stays indented

### Files Created/Modified

- `app.py` - entry point

### API Contract

```python
def verify(token: str) -> bool: ...
```
"""


class Chained(Place):
    """The repository: 101 has a feature, two criteria and no output yet; 102 builds on it; `app.py` is there."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        (root / "app.py").write_bytes(b"print()\n")
        self.new("102", title="Endpoints", depends_on=("101",))

    def file(self, task_id: str) -> Path:
        """Return the state file of a task."""
        return self.workspace.tasks / f"task-{task_id}-state.md"

    def read(self, task_id: str) -> str:
        """Return the text of a task."""
        return self.file(task_id).read_bytes().decode()

    def write(self, task_id: str, old: str, new: str) -> None:
        """Change the text of a task by hand; a word that is not there fails."""
        text = self.read(task_id)
        assert re.search(old, text), old
        self.file(task_id).write_bytes(re.sub(old, lambda _: new, text).encode())

    def output(self, text: str = WRITTEN, task_id: str = "101") -> None:
        """Write the Chain Output of a task by hand."""
        head = self.read(task_id).split("## 6. Chain Output")[0]
        self.file(task_id).write_bytes(f"{head}## 6. Chain Output\n\n{text}".encode())

    def finish(self, task_id: str = "101") -> None:
        """Do all that completion asks for."""
        self.output(task_id=task_id)
        tested = checklist.FeatureResult(passes=True, evidence="seen")
        checklist.set_feature(self.workspace, task_id, "jwt-1", tested, self.request())
        for number in (1, 2):
            checklist.set_criterion(self.workspace, task_id, number, self.request(), checked=True)

    def complete(self, task_id: str = "101", note: str = "") -> Outcome:
        """Complete a task."""
        return complete.complete(self.workspace, task_id, self.request(), note=note)

    def inputs(self, task_id: str = "102") -> list[tuple[str, int]]:
        """Return the inputs that a task holds: whose, and of which revision."""
        return [(each.id, each.revision) for each in inputs_of(self.workspace.load(self.file(task_id)).document)]
