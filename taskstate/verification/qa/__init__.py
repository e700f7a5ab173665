"""Results of checks (tests, linters, ...): read from logs, recorded for a role, compared with the baseline."""
