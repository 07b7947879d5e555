"""From a table of numbers to a formula: a search over expression graphs of units."""
