"""The operations: each job that a door offers, as a record beside a plain function with typed arguments.

A module holds the operations of one command; `index` lists them all, and loads one at a time. Nothing here prints,
reads a command line, or knows which door calls.
"""
