"""A disk over FUSE with a real file system on it, for root on Linux."""

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

SYSTEMS = ("ext4", "xfs", "btrfs")
BYTES = 512 << 20
_SECONDS = 60
_DISK = Path(__file__).with_name("disk.py")


def said(*command: str | Path) -> str:
    """Runs a command; what it says goes into the error if it fails."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, timeout=_SECONDS)
    if done.returncode:
        raise OSError(f"{' '.join(map(str, command))}: {(done.stderr or done.stdout).strip()}")
    return done.stdout.strip()


class Machine:
    """A disk whose writes are logged. python: an interpreter with `mfusepy`."""

    def __init__(self, folder: Path, python: str = sys.executable) -> None:
        self.files, self.log, self.durable = folder / "fs", folder / "log", folder / "durable"
        self._served, self._image, self._tried = folder / "served", folder / "image", folder / "tried"
        self._python = python
        for made in (self.files, self._served):
            made.mkdir(parents=True)
        for image in (self._image, self.durable):
            with image.open("wb") as file:
                file.truncate(BYTES)

    @contextmanager
    def recording(self, system: str) -> Iterator[None]:
        """Makes a file system on the disk and mounts it at `files`."""
        served = subprocess.Popen([self._python, "-W", "ignore", _DISK, self._served, self._image, self.log])
        try:
            self._wait_for_disk(served)
            device = said("losetup", "--show", "-f", self._served / "disk")
            try:
                said(*_format(system), device)
                said("mount", device, self.files)
                try:
                    yield
                finally:
                    said("umount", self.files)
            finally:
                said("losetup", "-d", device)
        finally:
            subprocess.run(["umount", "-l", self._served], capture_output=True, check=False)
            served.wait(_SECONDS)

    def _wait_for_disk(self, served: "subprocess.Popen[bytes]") -> None:
        until = time.monotonic() + _SECONDS
        while not (self._served / "disk").exists():
            if served.poll() is not None or time.monotonic() > until:
                raise OSError("the disk over FUSE does not begin (package mfusepy, libfuse, /dev/fuse)")
            time.sleep(0.01)

    def mark(self, text: str) -> None:
        """Puts a mark into the log after all that reached the disk until now."""
        with (self._served / "mark").open("wb", buffering=0) as file:
            file.write(text.encode())

    @contextmanager
    def tried(self) -> Iterator[Path]:
        """An image to be changed, which is what was flushed; `mounted` mounts it."""
        said("cp", "--sparse=always", self.durable, self._tried)
        yield self._tried
        self._tried.unlink()

    @contextmanager
    def mounted(self) -> Iterator[None]:
        """Mounts the image of `tried` where the disk was: the file system recovers as after a power cut."""
        said("mount", "-o", "loop", self._tried, self.files)
        try:
            yield
        finally:
            said("umount", self.files)


def _format(system: str) -> Sequence[str]:
    return {"ext4": ("mkfs.ext4", "-q", "-F"), "xfs": ("mkfs.xfs", "-q", "-f"), "btrfs": ("mkfs.btrfs", "-q", "-f")}[
        system
    ]


def lacks(system: str) -> str:
    """Returns what this machine lacks for it; empty if nothing."""
    missing = [name for name in ("losetup", "mount", _format(system)[0]) if shutil.which(name) is None]
    missing += [path for path in ("/dev/fuse", "/dev/loop-control") if not Path(path).exists()]
    return ", ".join(missing)
