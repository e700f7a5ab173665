"""Rules on the static part of a task: its seal, what it cites, and what it was captured from."""
