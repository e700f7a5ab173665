"""The rules of the linter, one module each, in one package for each family. A module docstring is the rule's page."""
