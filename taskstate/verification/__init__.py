"""What is proved about the work: snapshots of the working tree, results of checks, cited excerpts, command evidence."""
