"""The command line: `main` chooses a command, and each file in `commands` is one."""
