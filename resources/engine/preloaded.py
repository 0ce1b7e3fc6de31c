"""Loaded once by the process that workers are forked from: loading what kernels need would cost each half a second."""

from resources.kernels.jit import load

load()
