"""The engine: many models of one architecture at once, in compiled programs."""
