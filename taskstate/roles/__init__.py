"""The roles of a task: which may begin when, what changes them, and the findings that they raise on each other."""
