"""Rules on the chain of tasks: dependencies, inputs from upstream tasks, and what a complete task must hand on."""
