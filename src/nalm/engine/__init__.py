"""The engine: trains many models of one architecture at once, in compiled programs."""
