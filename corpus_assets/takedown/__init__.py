"""Documents that must not be in any output: the lists that name them, and the named rows of each shard."""
