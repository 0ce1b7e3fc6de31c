"""Templates: shingles that much of a source has, which the search for near-duplicates leaves out."""
