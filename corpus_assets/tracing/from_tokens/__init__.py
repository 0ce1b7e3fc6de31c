"""From a token of a file back to its document."""
