"""Token streams that are made of those of other datasets."""
