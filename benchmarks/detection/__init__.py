"""Measures what the linter finds: files are damaged as agents, people, editors and merges do it, and then linted.

`projects` makes a repository of sound files; `front_matter`, `bodies` and `across_files` hold the damages; `healthy`
makes files in which nothing is wrong; `detection` measures. The damages are written without looking at the rules: each
says only which line a person would point at, and of what kind the fault is.
"""
