"""A repository with its tasks: finding, loading and writing them under the lock, and what lies beside them.

This is where `storage` and `model` meet. Jobs build on it and decide what to write; here is how.
"""
