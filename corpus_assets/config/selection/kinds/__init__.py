"""Kinds of entries of `dedupers` with a `kind`."""
