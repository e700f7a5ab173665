"""Rules on the sections of a state file: their presence, their order, and their headings."""
