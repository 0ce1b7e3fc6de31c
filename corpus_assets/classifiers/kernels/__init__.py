"""What numba compiles for classifiers."""
