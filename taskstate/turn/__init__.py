"""A turn: what one agent does on a task between `start` and `finish`, from all that stands before it to its gate."""
