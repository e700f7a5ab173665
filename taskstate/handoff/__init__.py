"""Handing work over: phases, handoff documents, the prompt for the successor, the protocol, the parts of a brief."""
