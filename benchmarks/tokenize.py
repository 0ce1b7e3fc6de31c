"""Text to token shards in MB of text per CPU-second: `python -m benchmarks.tokenize [--quick] [--json]`.

Six questions on one core, contenders in turns, the best of their rounds counts:
- the whole step, `jsonl.gz` to packed, deflated HDF5, beside the same rows through `tokenizers` and h5py's own gzip;
- the tokenization step alone beside `tokenizers.encode_batch` and tiktoken, ids compared token by token;
- fill in the middle, from texts to rows, by document and by row;
- the stages of a shuffled dataset over source code, as `benchmarks.stages` measures them, fixed cost apart;
- how full best-fit packing leaves the rows on these documents;
- what the layout of the HDF5 file costs: a single random row through plain h5py, all rows in order, and the size,
  beside Cerebras' layout (one row a chunk, gzip level 4) and chunks of 384 KiB.
"""

import argparse
import io
import json
import os
import resource
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("RAYON_NUM_THREADS", "1")  # One core for everyone; read when the libraries load.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import h5py
import numpy as np
import tiktoken
from numpy.typing import NDArray
from tokenizers import Tokenizer as Library

from benchmarks.code_rows import shuffled_rate
from benchmarks.hdf5_layouts import layouts
from benchmarks.minhash import load_texts
from benchmarks.turns import best
from corpus_assets.config.datasets.modes import FIMDataset, LMDataset, VSLDataset
from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.encode.backends import accelerate
from corpus_assets.tokenize.encode.texts import encode_texts
from corpus_assets.tokenize.modes.fim import FIM
from corpus_assets.tokenize.modes.lm import lm_rows
from corpus_assets.tokenize.modes.lm_vsl import lm_vsl_rows
from corpus_assets.tokenize.modes.mode import IdentifiedText, Tools
from corpus_assets.tokenize.ragged import Ragged
from corpus_assets.tokenize.rows.layouts import TEXTS
from corpus_assets.tokenize.rows.recount import ArrayStatistics
from corpus_assets.tokenize.tokenizers.loading import TokenizerSpec, load_tokenizer
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from corpus_assets.tokenize.tokenizers.token_sizes import byte_level_alphabet
from corpus_assets.tokenize.tokenizers.training import train_bpe
from resources.formats.codecs import open_gzip
from resources.formats.documents import Document, decode_document, encode_document
from resources.formats.hdf5.layout import LM_FEATURES
from resources.formats.hdf5.writer import write_hdf5

GPT2 = Path(__file__).resolve().parents[2] / "shared" / "tokenizers" / "gpt2" / "tokenizer.json"
GPT2_PATTERN = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"""
END = "<|endoftext|>"
LENGTH = 2048
WINDOWS = LMDataset(name="measured", sequence_length=LENGTH)
PACKED = VSLDataset(name="measured", mode="lm_vsl", sequence_length=LENGTH)
MEGABYTES, QUICK_MEGABYTES = 64, 2
CODE_MEGABYTES, QUICK_CODE_MEGABYTES = 160, 4
SLOW_SHARE, QUICK_SLOW_SHARE = 12, 4
BATCH = 1 << 20
ROUNDS = 3


def tokenizer_file(given: str | None, texts: Sequence[str]) -> tuple[bytes, str]:
    """The tokenizer to measure with: the given file, else GPT-2 where it lies, else a BPE trained on the texts."""
    path = Path(given) if given else GPT2
    if given or path.is_file():
        return path.read_bytes(), path.parent.name
    return train_bpe(texts[::10], 32768), "trained, 32768"


def batches(texts: Sequence[str]) -> Iterator[list[str]]:
    held: list[str] = []
    size = 0
    for text in texts:
        held.append(text)
        size += len(text)
        if size >= BATCH:
            yield held
            held, size = [], 0
    yield held


def ours(tokenizer: Tokenizer, texts: Sequence[str]) -> NDArray[np.int32]:
    encoded = encode_texts(texts, tokenizer, WINDOWS, Statistics())
    return np.concatenate([batch.ids for batch in encoded])


def library(tokenizer: Library, texts: Sequence[str]) -> NDArray[np.int32]:
    encoded = (e for batch in batches(texts) for e in tokenizer.encode_batch(batch, add_special_tokens=False))
    return np.concatenate([np.array(e.ids, np.int32) for e in encoded])


def with_tiktoken(encoding: tiktoken.Encoding, texts: Sequence[str]) -> NDArray[np.int32]:
    return np.concatenate([np.array(encoding.encode_ordinary(text), np.int32) for text in texts])


def tiktoken_encoding(definition: bytes) -> tiktoken.Encoding:
    """The same vocabulary for tiktoken: bytes of every entry, by the byte alphabet of GPT-2."""
    bytes_of = byte_level_alphabet()
    vocabulary = json.loads(definition)["model"]["vocab"]
    ranks = {bytes(bytes_of[c] for c in token): i for token, i in vocabulary.items() if set(token) <= bytes_of.keys()}
    return tiktoken.Encoding("measured", pat_str=GPT2_PATTERN, mergeable_ranks=ranks, special_tokens={})


def texts_of(packed: bytes) -> Iterator[str]:
    with open_gzip(io.BytesIO(packed)) as lines:
        yield from (decode_document(line).text for line in lines)


def text_to_hdf5(packed: bytes, tokenizer: Tokenizer, folder: Path) -> None:
    """The whole step, as the asset does it."""
    statistics = Statistics()
    encoded = encode_texts(texts_of(packed), tokenizer, WINDOWS, statistics)
    blocks = lm_rows(encoded, WINDOWS, tokenizer.eos_id, tokenizer.pad_id, statistics)
    eos, pad, sizes = tokenizer.eos_id, tokenizer.pad_id, tokenizer.text_sizes()
    arrays = ArrayStatistics(TEXTS, eos_id=eos, pad_id=pad, sizes=sizes)
    with (folder / "ours.h5").open("w+b") as file:
        write_hdf5(file, arrays.watch(blocks), {}, features=LM_FEATURES, sequence_length=LENGTH)


def text_to_hdf5_plain(packed: bytes, tokenizer: Library, eos: int, folder: Path) -> None:
    """The usual way: `encode_batch`, rows by numpy, one row per HDF5 chunk with h5py's gzip (level 4)."""
    stream = (id_ for text in texts_of(packed) for id_ in (*tokenizer.encode(text, add_special_tokens=False).ids, eos))
    ids = np.fromiter(stream, np.int32)
    rows = (len(ids) - 1) // LENGTH
    data = np.empty((rows, 3, LENGTH), np.int32)
    data[:, 0] = ids[: rows * LENGTH].reshape(rows, LENGTH)
    data[:, 1] = 1
    data[:, 2] = ids[1 : rows * LENGTH + 1].reshape(rows, LENGTH)
    with h5py.File(folder / "plain.h5", "w") as file:
        file.create_dataset("data", data=data, chunks=(1, 3, LENGTH), compression="gzip")


def fim_rates(tokenizer: Tokenizer, texts: Sequence[str], rounds: int) -> dict[str, float]:
    """MB of text per CPU-second from texts to rows with a middle that is moved, by level."""
    sections = {level: FIMDataset(name="measured", mode="fim", fim_level=level) for level in ("document", "row")}
    for name in ("prefix_token", "middle_token", "suffix_token"):
        tokenizer = tokenizer.with_token(getattr(sections["row"], name))
    fast = accelerate(tokenizer, "auto", texts[:100])

    def rows(section: FIMDataset) -> None:
        documents = (IdentifiedText(str(number), text) for number, text in enumerate(texts))
        for _ in FIM.rows(section, documents, Tools(fast, Statistics())):
            pass

    rows(sections["row"])  # Word caches are warm.
    seconds = best({level: partial(rows, section) for level, section in sections.items()}, rounds)
    return {f"fim_{level}_mb_per_cpu_s": round(megabytes(texts) / taken, 1) for level, taken in seconds.items()}


def vsl_fill(tokenizer: Tokenizer, texts: Sequence[str]) -> tuple[float, float]:
    """Percent of positions that hold tokens, and sequences per row, with best fit."""
    statistics = Statistics()
    encoded = encode_texts(texts, tokenizer, PACKED, statistics)
    for _ in lm_vsl_rows(encoded, PACKED, tokenizer.eos_id, tokenizer.pad_id, statistics):
        pass
    return round(100 * statistics.fill, 3), statistics.sequences_per_row


def zipped(texts: Sequence[str]) -> bytes:
    from isal import igzip

    lines = (encode_document(Document(str(number), text, "measured")) for number, text in enumerate(texts))
    return bytes(igzip.compress(b"".join(lines), 1))


def measure(quick: bool, given: str | None = None) -> dict[str, Any]:
    texts, kind = load_texts(QUICK_MEGABYTES if quick else MEGABYTES)
    definition, name = tokenizer_file(given, texts)
    reference = load_tokenizer({"tokenizer.json": definition}, TokenizerSpec("tokenizer_json", eos=END))
    fast = accelerate(reference, "auto", texts[:100])
    slow = Library.from_str(definition.decode())
    slow.encode_special_tokens = True
    other = tiktoken_encoding(definition)
    few = texts[:: QUICK_SLOW_SHARE if quick else SLOW_SHARE]
    ids = library(slow, few)
    ours(fast, texts)  # Word caches are warm, as they are after the first shards of a worker.
    alone = best(
        {
            "ours": lambda: ours(fast, texts),
            "tokenizers": lambda: library(slow, few),
            "tiktoken": lambda: with_tiktoken(other, few),
        },
        1 if quick else ROUNDS,
    )
    rate = {"ours": megabytes(texts) / alone["ours"]}
    rate |= {who: megabytes(few) / alone[who] for who in ("tokenizers", "tiktoken")}
    with tempfile.TemporaryDirectory() as folder:
        whole, plain = zipped(texts), zipped(few)
        text_to_hdf5(zipped(texts[:3]), fast, Path(folder))  # Loads the compiled kernels.
        steps = best(
            {
                "ours": lambda: text_to_hdf5(whole, fast, Path(folder)),
                "plain": lambda: text_to_hdf5_plain(plain, slow, reference.eos_id or 0, Path(folder)),
            },
            1 if quick else ROUNDS,
        )
        blocks = lm_rows(encode_texts(texts, fast, WINDOWS, Statistics()), WINDOWS, reference.eos_id, reference.pad_id)
        code = shuffled_rate(Path(folder), definition, QUICK_CODE_MEGABYTES if quick else CODE_MEGABYTES, END)
        layout = layouts(np.concatenate(list(blocks)), Path(folder), ROUNDS)
    ours_whole, plain_whole = megabytes(texts) / steps["ours"], megabytes(few) / steps["plain"]
    fill, per_row = vsl_fill(fast, texts)
    return {
        "text_mb": round(megabytes(texts), 1),
        "corpus": kind,
        "tokenizer": name,
        "backend": fast.report()["backend"],
        "text_to_hdf5_mb_per_cpu_s": round(ours_whole, 1),
        "text_to_hdf5_ratio_vs_tokenizers_and_h5py": round(ours_whole / plain_whole, 1),
        **code,
        "tokenize_mb_per_cpu_s": round(rate["ours"], 1),
        "tokenizers_mb_per_cpu_s": round(rate["tokenizers"], 2),
        "tiktoken_mb_per_cpu_s": round(rate["tiktoken"], 2),
        "ratio_vs_tokenizers": round(rate["ours"] / rate["tokenizers"], 1),
        "ratio_vs_tiktoken": round(rate["ours"] / rate["tiktoken"], 1),
        **fim_rates(reference, texts, 1 if quick else ROUNDS),
        "documents_with_other_ids": differing(fast, slow, few),
        "tokens_compared": len(ids),
        "vsl_fill_percent": fill,
        "vsl_sequences_per_row": per_row,
        **layout,
        "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3),
    }


def differing(fast: Tokenizer, slow: Library, texts: Sequence[str]) -> int:
    """Documents whose ids are not those of `tokenizers`."""
    mine: Ragged = fast.encode_plain(texts)
    theirs = (
        encoding.ids for batch in batches(texts) for encoding in slow.encode_batch(batch, add_special_tokens=False)
    )
    return sum(a.tolist() != b for a, b in zip(mine, theirs, strict=True))


def megabytes(texts: Sequence[str]) -> float:
    return sum(len(text.encode()) for text in texts) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_MEGABYTES} MB of text instead of {MEGABYTES}")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--tokenizer", help="a byte-level tokenizer.json with GPT-2's pattern")
    given = parser.parse_args()
    figures = measure(given.quick, given.tokenizer)
    if given.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name.replace('_', ' '):44}{value!s:>12}")


if __name__ == "__main__":
    main()
