"""Results of checks (tests, linters, ...): commands run, logs read, recorded per role, compared with the baseline."""
