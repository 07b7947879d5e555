"""Numbers in words: sentences such as "three hundred and thirty four" and what they are worth."""
