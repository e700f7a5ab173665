"""The commands, one module each: declares arguments, calls an operation, and prints the result as text or JSON."""
