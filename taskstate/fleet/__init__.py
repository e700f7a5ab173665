"""Indexes and lints many repositories: finds them, has child processes read a bucket of them at a time, keeps parts.

`sources` and `heads` look at repositories from outside, `stores` reads those in an object store, `objects` lets git at
the objects of others alone, and `part` is the program of a child: it makes the rows of a bucket. `parts` and `manifest`
are the folder that results; `workers` starts children and tells which repository broke one; `run` puts a run together,
and `report` prints what lint found.
"""
