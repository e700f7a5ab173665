"""Results of checks (tests, linters, ...): read from logs, recorded per role, and compared with the baseline."""
