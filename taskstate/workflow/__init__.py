"""What joins several subjects in one answer or one step: brief, status, doctor and its repairs."""
