"""Saves what a session did without the agent's word for it, where a person has said yes: facts, drafts, and the fill.

Hooks note where a session's transcript is and make drafts; `start` records what nobody recorded. A hook writes no
state file, and no draft is mistaken for an agent's own session.
"""
