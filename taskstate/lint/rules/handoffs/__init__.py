"""Rules on handoff documents."""
