"""Compiled kernels over token arrays; each module compiles with numba when it is loaded, so load it late."""
