"""Secrets that are planted in every place where one can be, and looked for everywhere else."""
