"""`corpus audit`."""
