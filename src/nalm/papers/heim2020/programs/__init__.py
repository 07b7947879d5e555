"""Programs behind entries that are no grids of runs, and entries that measure in their own way."""
