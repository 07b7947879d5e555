"""Programs of those tables and figures that the benchmark engine alone does not make."""
