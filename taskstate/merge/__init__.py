"""Merges two versions of one of our files by meaning, given their common base.

    three_way       the three versions of anything, and the cases that need no knowledge of their meaning
    lines           lines: three-way merge, and two texts as one with conflict markers
    values          values of YAML and JSON, each key by its own rule
    json_fences     a json fence, or a whole JSON file
    front_matter    the front matter, key by key
    progress_log    the Progress Log: the sessions of both sides in one order, with rising numbers
    summaries       the Archived Summary, and what each side has archived
    appended_lists  lists that both sides append to: commits, versions
    sections        the body, section by section
    state_files     a state file
    archives        an archive file, batch by batch
    handoffs        a handoff document: accepted stays accepted
    files           any of our files, as bytes: what callers need
    added_items     a state file with items of another text of it
    task_files      a state file with its archive, and what must hold before others take their place
    recovery        brings back what is gone, and mends what is damaged

Where two changes exclude each other, one side is preferred. A file is merged twice, once with each preference, and the
places where the two results differ are the conflicts (decision 8). All but `recovery` is pure.
"""
