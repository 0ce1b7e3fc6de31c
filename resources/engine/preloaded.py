"""Loaded once by the process that workers are forked from: what kernels need costs each of them half a second."""

from resources.kernels.jit import load

load()
