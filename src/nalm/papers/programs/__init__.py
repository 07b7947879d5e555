"""Programs behind tables and figures that are no grids of runs: surfaces, fields, curves, other loops."""
