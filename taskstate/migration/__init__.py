"""Turns documents of older forms, and of other tools that did the same work, into files of the present format.

Here belongs what knows an older form. What the present format means belongs to `model`, and writing to `workspace`.
"""
