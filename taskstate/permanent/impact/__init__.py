"""The Impact Map at work: its entries, where it is kept, and claims of affected files that are checked by it."""
