"""Personal data as kernels."""
