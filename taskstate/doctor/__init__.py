"""The doctor: what is wrong with a repository and its set-up, and the repairs that lose nothing."""
