"""From raw curves to what they mean."""
