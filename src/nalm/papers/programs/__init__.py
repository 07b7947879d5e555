"""Programs of their own behind some tables and figures."""
