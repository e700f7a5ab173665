"""Merges two versions of one of our files by meaning, given the version that both come from.

    sides           the three versions of anything, and what can be said of them without knowing what they mean
    text3           three-way merge of lines; two texts as one with conflict markers
    values          three-way merge of values, each key by its own rule
    json_part       a json fence, or a whole JSON file
    front_matter    the front matter, key by key
    log             the Progress Log: sessions of both sides in one order, with rising numbers
    summaries       the Archived Summary, and what it says of the archive
    history         the lists that both sides add to: commits, versions
    sections        the body, section by section
    state           a state file
    archives        an archive file, batch by batch
    handoffs        a handoff document: accepted stays accepted
    files           any of our files, as bytes: what callers need

Nobody is asked: where two changes exclude each other, one side is preferred. A file is merged twice, once with either
preference, and where the two results differ is the conflict (decision 8). All of it is pure.
"""
