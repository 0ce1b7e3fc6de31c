"""The file formats of the store: readers and writers of each."""
