"""What several rules need to know of one file, found out once: outline, JSON values, phases, history, citations."""
