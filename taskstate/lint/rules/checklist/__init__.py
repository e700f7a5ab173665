"""Rules on the Feature Checklist."""
