"""The brief: what an agent that starts on a task reads, in a budget of tokens; and what asks for attention.

What is read in a turn's beginning is chosen in `turn`; how the task files are summed up for people is in `views`.
"""
