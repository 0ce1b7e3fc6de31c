"""Unicode word boundaries (UAX #29) as kernels."""
