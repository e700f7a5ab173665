"""Is this value allowed? JSON Schemas, secrets, and paths that must stay inside the repository.

Takes values and texts and returns what is wrong with them. Reads no user file and never imports `storage`.
"""
