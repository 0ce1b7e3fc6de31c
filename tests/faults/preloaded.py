"""C libraries that stand between a process and the C library, and file systems of a process's own."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
_NAMESPACES = (["unshare", "--user", "--map-root-user", "--mount"], ["unshare", "--mount"])
"""Ways to get mounts that nobody else sees, and that end with the process: with and without the rights of root."""


def compiled(name: str, folder: Path) -> Path:
    """The library of a file here, made in a folder; the test is skipped where that cannot be done."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("the library that makes calls fail needs a C compiler and Linux")
    made = folder / f"{name}.so"
    source = HERE / f"{name}.c"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", str(made), str(source), "-ldl"], check=True)
    return made


def with_mounts(script: str) -> list[str]:
    """The command of a shell script that may mount; the test is skipped where it may not."""
    for namespace in _NAMESPACES:
        command = [*namespace, "sh", "-ec"]
        tried = [*command, "mount -t tmpfs -o size=1m none /mnt"]
        if shutil.which("unshare") and subprocess.run(tried, capture_output=True, check=False).returncode == 0:
            return [*command, script]
    pytest.skip("this system lets nobody mount, or has no `unshare`")
