"""Results to read: tables on a terminal, a page, and files for other programs."""
