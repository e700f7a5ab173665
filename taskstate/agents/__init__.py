"""Brings the protocol to the agents' own clients: their hooks, and what `init` writes into their configuration.

Thin: what is said comes from the jobs below. What a client calls an event or a field stands in `clients` alone.
"""
