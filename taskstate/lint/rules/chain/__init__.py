"""Rules on what a task hands on, and what it must have said by then."""
