"""Sets a repository up, and takes that out again: folders, git's files, commit hooks, the clients of agents."""
