"""`corpus doctor`, and what it looks at."""
