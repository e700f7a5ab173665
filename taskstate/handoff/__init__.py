"""Handing work over: phases, handoff documents, the successor's prompt, the protocol, and how tokens are counted."""
