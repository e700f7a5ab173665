"""Exports tasks: what they say as values, and the files of each format; what a format has no place for is counted.

A format turns values into texts: no disk, no clock. Only `run` writes, and nothing but what it wrote itself before.
"""
