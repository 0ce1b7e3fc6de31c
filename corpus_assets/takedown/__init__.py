"""Documents that may be in no output: the lists that name them, and the rows of each shard that they name."""
