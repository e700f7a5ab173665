"""Rules on the roles of a task, and on the snapshots of the working tree that they left."""
