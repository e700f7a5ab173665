"""Rules on the sections of a state file: which ones there are, where, and under which headings."""
