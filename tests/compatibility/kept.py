"""Where stores of earlier versions are kept, and how they are packed and unpacked."""

import lzma
import tarfile
from pathlib import Path

from resources.version import VERSION

HERE = Path(__file__).parent
STORES = sorted(HERE.glob("version_*.tar.xz"))
_CACHES = (".snapshots",)
"""Folders of a store that hold what its other files say anyway."""


def archive_of(version: str = VERSION) -> Path:
    """The archive of a version: one for all its patches."""
    major, minor, *_ = version.split(".")
    return HERE / f"version_{major}_{minor}.tar.xz"


def pack(folder: Path, archive: Path) -> None:
    """Packs the corpora of a folder, in the order of their paths and without owners and times."""
    best = lzma.PRESET_EXTREME | 9
    with lzma.open(archive, "wb", preset=best) as stream, tarfile.open(fileobj=stream, mode="w") as packed:
        for file in sorted(file for file in folder.rglob("*") if file.is_file()):
            path = file.relative_to(folder)
            if not set(_CACHES) & set(path.parts):
                packed.add(file, str(path), filter=_plain)


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """A member without what belongs to the machine."""
    return member.replace(mtime=0, mode=0o644, uid=0, gid=0, uname="", gname="", deep=False)


def unpack(archive: Path, folder: Path) -> list[str]:
    """Unpacks an archive into a folder; returns the names of its corpora."""
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return sorted(config.parent.name for config in folder.glob("*/corpus.yaml"))
