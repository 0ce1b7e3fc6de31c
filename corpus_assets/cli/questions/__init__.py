"""Commands that answer questions about a built corpus and compute no partition."""
