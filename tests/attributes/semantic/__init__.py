"""Documents that mean the same."""
