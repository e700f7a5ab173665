"""What is done to a task: create it, add sessions, tick the checklist, change roles, pull inputs, complete, split it.

Each module is one job or the rules behind it; commands only call them.
"""
