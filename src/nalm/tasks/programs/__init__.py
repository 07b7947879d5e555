"""Programs to evaluate: sequences of symbols and integers, and what they give."""
