"""Real code as a corpus for peers, and which of its documents are copies.

These are the pairs that any tool finds, compared exactly.
"""

import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.peers.exchange import THRESHOLD, Result, read_documents
from benchmarks.peers.truth import Truth, jaccard
from benchmarks.substrings import texts
from corpus_assets.config.sections import ShortDocuments
from resources.documents.slimpajama_cleaning import clean

_FILE_BYTES = 8_000_000


def write_real(raw: Path, megabytes: int) -> str:
    """Write so many MB of the Python files of installed packages; returns what the corpus is."""
    folder = raw / "documents" / "code"
    folder.mkdir(parents=True)
    for number, lines in enumerate(_files(megabytes)):
        content = gzip.compress("".join(lines).encode(), 1, mtime=0)
        (folder / f"part-{number:04}.jsonl.gz").write_bytes(content)
    return "real code"


def _files(megabytes: int) -> Iterator[list[str]]:
    lines: list[str] = []
    size = total = 0
    for number, text in enumerate(texts()):
        if total >= megabytes * 1_000_000:
            break
        lines.append(json.dumps({"id": f"code-{number:07d}", "text": text, "source": "code"}) + "\n")
        size, total = size + len(text.encode()), total + len(text.encode())
        if size >= _FILE_BYTES:
            yield lines
            lines, size = [], 0
    if lines:
        yield lines


def real_truth(raw: Path, answers: Iterable[Result]) -> Truth:
    """Pairs of the first document of a cluster of any tool with another one of it that are similar, text by text.

    Without those of a document that a build with the defaults leaves out as short.
    """
    ids: list[str] = []
    size = 0
    for name, text in read_documents(raw):
        ids.append(name)
        size += len(text.encode())
    wanted = set(_stars(answers, ids))
    named = {name for pair in wanted for name in pair}
    texts_of = {name: text for name, text in read_documents(raw) if name in named}
    long = {name for name, text in texts_of.items() if len(clean(text)) >= ShortDocuments().threshold}
    pairs = [pair for pair in sorted(wanted) if long.issuperset(pair)]
    pairs = [(one, other) for one, other in pairs if jaccard(texts_of[one], texts_of[other]) >= THRESHOLD]
    return Truth(ids=ids, text_bytes=size, pairs=pairs, lone=set(), look_alikes=set())


def _stars(answers: Iterable[Result], ids: Sequence[str]) -> Iterator[tuple[str, str]]:
    for answer in answers:
        for cluster in answer:
            if isinstance(cluster, Sequence) and not isinstance(cluster, str):
                first, *others = (ids[member] if isinstance(member, int) else member for member in cluster)
                yield from (tuple(sorted((first, other))) for other in others)  # type: ignore[misc]
