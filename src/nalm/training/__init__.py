"""Training: the parts of a recipe, and the engine that trains many models at once."""
