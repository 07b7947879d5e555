"""From a table to a formula with real coefficients: the search, and what may be said of its result."""
