"""Handing work over: phases, handoff documents, the prompt for the successor, the protocol, and how tokens are counted."""
