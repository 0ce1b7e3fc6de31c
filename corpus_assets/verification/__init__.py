"""Whether the store holds what its records say, and what it takes to repair it."""
