"""Near-duplicates: signatures, bands, pairs, components, duplicates per shard."""
