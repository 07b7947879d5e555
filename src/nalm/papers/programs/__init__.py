"""Programs of entries that are more than cells of the benchmark."""
