"""From raw curves to outcomes, intervals and rankings."""
