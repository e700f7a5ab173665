"""The validation commands: run by leave, their logs read, and their results compared with the baseline."""
