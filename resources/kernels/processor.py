"""What tells one processor from another, without the libraries that compile for it."""

import os
import platform
from functools import cache
from pathlib import Path

CPU, FEATURES = "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"
"""Variables that tell numba to compile for another processor."""

WIDE = ",-prefer-256-bit"
"""The end of the values that `resources.kernels.jit` sets for them, which follow from the processor."""

_CPUINFO = Path("/proc/cpuinfo")
_KINDS = (
    "vendor_id",
    "cpu family",
    "model",
    "model name",
    "flags",
    "Features",
    "CPU implementer",
    "CPU architecture",
    "CPU variant",
    "CPU part",
)
"""Fields of `/proc/cpuinfo` (x86 and ARM) that say what a core can execute; others, such as its clock, change."""


def processor() -> str:
    """Returns what numba compiles for: models and features of all cores, and the user's settings that replace them.

    The same before and after numba is loaded.
    """
    wanted = [os.environ.get(name, "") for name in (CPU, FEATURES)]
    if wanted[1].endswith(WIDE):
        wanted = ["", ""]
    return "\n".join([*wanted, _of_machine(_CPUINFO)])


@cache
def _of_machine(cpuinfo: Path) -> str:
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    fields = [(key.strip(), value.strip()) for key, _, value in (line.partition(":") for line in lines)]
    return "\n".join(sorted({f"{key}: {value}" for key, value in fields if key in _KINDS}))
