"""Commands that answer a question about what is built, and compute nothing."""
