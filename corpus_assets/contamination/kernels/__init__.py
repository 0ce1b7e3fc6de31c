"""What numba compiles for the search: words of a text, and their n-grams in an index."""
