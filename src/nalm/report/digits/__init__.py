"""The section of a page about tasks on digits: tables, figures, and pictures of what networks read."""
