"""Results for people: tables on a terminal, files for other programs."""
