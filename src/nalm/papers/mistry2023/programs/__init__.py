"""Programs behind entries that are not grids of runs, and entries with their own way of measuring."""
