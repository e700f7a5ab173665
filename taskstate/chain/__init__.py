"""Chains of tasks: the output of a task, and the inputs that tasks downstream take from it.

How both stand in a file is in `model.chain`.
"""
