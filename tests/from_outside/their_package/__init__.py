"""What another package adds to nalm: a unit, a task, a part of a recipe, an entry of the ledger."""
