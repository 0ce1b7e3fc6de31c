"""Raw files: readers for every input format, the inventory, the sample corpus."""
