"""Loaded once by the process that workers are forked from: loading what kernels need would cost each half a second."""

import gc

from resources.kernels.jit import load

gc.disable()  # Until a worker begins (`calm_collector`): nearly all that modules make when they are loaded stays.
load()
