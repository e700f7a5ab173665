"""The linter: rules that check state files and the files beside them, and the fixes that repair what they find."""
