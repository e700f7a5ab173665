"""One file for each command: it declares its arguments, calls a job, and prints the result as text or JSON."""
