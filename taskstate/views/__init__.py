"""Views of tasks for people and programs: the list, the status, one task's overview, and what a search finds."""
