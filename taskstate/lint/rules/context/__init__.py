"""Rules on the static part of a task: its seal, its citations, and the sources that it was captured from."""
