"""Rules on the Progress Log and its sessions."""
