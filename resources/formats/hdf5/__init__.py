"""Token rows in HDF5: their layout, a reader and a writer."""
