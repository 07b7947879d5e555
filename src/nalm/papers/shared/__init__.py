"""What the entries and programs of several papers share."""
