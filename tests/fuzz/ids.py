"""Files of ids that exist already, in every format: each file of a group in turn is the hostile one."""

import io
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from corpus_assets.config.datasets.token_files import TokenFiles
from corpus_assets.token_files.documents import batches
from corpus_assets.token_files.pieces import How, TokenSource
from corpus_assets.token_files.registry import FORMATS
from tests.fuzz.harness import Harness
from tests.token_files import writing

FIRST = {
    "megatron": "a.idx", "ragged": "a.data.npy", "olmo": "a.npy", "nanogpt": "train.bin",
    "llmc": "x_train_000000.bin", "mds": "index.json", "litdata": "index.json",
}  # fmt: skip


@cache
def sound(name: str) -> dict[str, bytes]:
    """Returns the files of a small group in a format."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        if name == "mds":
            writing.mds(place, [writing.PLAIN], packed=True)
        else:
            getattr(writing, name)(place, writing.ROWS)
        return {file.name: file.read_bytes() for file in sorted(place.iterdir())}


def _reader(name: str, hostile: str) -> Callable[[bytes], None]:
    def read(content: bytes) -> None:
        files = {**sound(name), hostile: content}
        first = FIRST[name]
        members = tuple(one for one in files if one != first)
        source = TokenSource(first, members, lambda member: io.BytesIO(files.get(member or first, b"")))
        section = TokenFiles.model_validate({"location": "x", "format": name})
        how = How(section, 1000, 0 if section.side != "none" else None)
        for _ in batches(FORMATS[name].read(source, how), how):
            pass

    return read


def _of(name: str, hostile: str) -> Harness:
    harness = f"ids-{name}-{hostile.replace('.', '-')}"
    return Harness(harness, _reader(name, hostile), lambda: [sound(name)[hostile]])


HARNESSES = [
    _of(name, hostile)
    for name in FORMATS
    for hostile in sound(name)
    if not (name in ("llmc", "litdata") and hostile not in (FIRST[name], "chunk-0-0.bin"))
]
