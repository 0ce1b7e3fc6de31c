"""Compiled kernels over byte arrays; each module compiles with numba when it is loaded, so load it late."""
