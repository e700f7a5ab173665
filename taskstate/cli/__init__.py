"""The command line: `main` selects a command; each module in `commands` implements one."""
