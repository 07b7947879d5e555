"""Training: the parts of a recipe, and the engine that trains many models at once."""

import nalm.units  # noqa: F401  Units and recipes know each other; whoever comes first, units are loaded first.
