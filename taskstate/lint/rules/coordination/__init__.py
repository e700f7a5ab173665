"""Rules on the roles of a task, and on their snapshots of the working tree."""
