"""What belongs to the user: modules of their own, and the cache in their home."""
