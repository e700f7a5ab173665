"""Operations on a task: create it, add sessions, tick the checklist, change roles, pull inputs, complete, split it.

Each module is one operation or the rules behind it; commands only call them.
"""
