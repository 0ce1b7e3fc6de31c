"""Pages of token rows."""
