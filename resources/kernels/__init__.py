"""Kernels: functions compiled by numba, late and once, and kept on disk."""
