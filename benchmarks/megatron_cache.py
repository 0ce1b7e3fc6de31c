"""Index files for Megatron on one core: `python -m benchmarks.megatron_cache [--quick] [--json] [--ids N]`.

An indexed dataset of random documents, 500 ids long on average, and a run over three of its epochs in samples of 2,048
ids. `ours` is what `corpus megatron-cache` calls, `megatron` is megatron-core's `BlendedMegatronDatasetBuilder` in the
environment of the readers or of `--python`, None where it is not installed. Each runs in a process of its own, whose
imports and compiled kernels do not count; files are compared byte by byte. Then the same as a blend of two halves, with
weights.

Keys, of a single dataset and with `blend_` of a blend: `ours_cpu_s`, `megatron_cpu_s`; `ours_peak_mb`,
`megatron_peak_mb`: how much more memory the process needs at most, pages of mapped files included.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ROOT / ".venv-readers" / "megatron-lm" / "bin" / "python"
IDS, QUICK_IDS = 4_000_000_000, 100_000_000
MEAN, LENGTH, EPOCHS = 500, 2048, 3
TOKENIZER = {"class": "benchmarks.Tokenizer"}
OURS = """
import json, sys, time
from pathlib import Path
import numpy as np
from corpus_assets.megatron_cache import blending
from corpus_assets.megatron_cache.blends import blend_of
from corpus_assets.megatron_cache.caches import Run, write_caches
from corpus_assets.megatron_cache.folder import cache_folder

words, length, samples, tokenizer, output = json.loads(sys.argv[1])
one = np.zeros(1, np.int64)
blending.blend(np.ones(1), 0, one, np.zeros(1, np.int16), one)
run = Run(blend_of(words), length, 1234, None, "train", [samples, 0, 0], 0.005, tokenizer)
before, start = peak(), time.process_time()
with cache_folder(Path(output)) as folder:
    list(write_caches(run, folder))
"""
MEGATRON = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import torch
from megatron.core.datasets import helpers
from megatron.core.datasets.blended_megatron_dataset_builder import BlendedMegatronDatasetBuilder
from megatron.core.datasets.gpt_dataset import GPTDataset, GPTDatasetConfig
from megatron.core.datasets.utils import get_blend_from_list

words, length, samples, tokenizer, output = json.loads(sys.argv[1])
class Tokenizer:
    vocab_size, eod, unique_identifiers = 50257, 50256, tokenizer
torch.distributed.init_process_group("gloo", init_method=f"file://{output}.rendezvous", rank=0, world_size=1)
config = GPTDatasetConfig(
    random_seed=1234, sequence_length=length, path_to_cache=output, tokenizer=Tokenizer(), reset_position_ids=False,
    reset_attention_mask=False, eod_mask_loss=True, create_attention_mask=False,
    blend_per_split=[get_blend_from_list(words), None, None],
)
before, start = peak(), time.process_time()
BlendedMegatronDatasetBuilder(GPTDataset, [samples, 0, 0], lambda: True, config).build()
"""
PEAK = """
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
"""
"""Unlike the peak of `resource`, this one is not that of the process before."""
REPORT = """
taken, after = time.process_time() - start, peak()
print(json.dumps([taken, (after - before) / 1024]))
"""


def write_indexed(prefix: Path, ids: int, seed: int) -> None:
    """Writes an indexed dataset of random documents of about so many ids. Its `.bin` has a size and no content."""
    sizes = np.random.default_rng(seed).geometric(1 / MEAN, ids // MEAN)
    header = b"MMIDIDX\x00\x00" + np.array([1], "<u8").tobytes() + b"\x08"
    counts = np.array([len(sizes), len(sizes) + 1], "<u8")
    parts = (
        sizes.astype("<i4"),
        ((np.cumsum(sizes) - sizes) * 2).astype("<i8"),
        np.arange(len(sizes) + 1, dtype="<i8"),
    )
    Path(f"{prefix}.idx").write_bytes(header + counts.tobytes() + b"".join(part.tobytes() for part in parts))
    with Path(f"{prefix}.bin").open("wb") as data:
        data.truncate(int(sizes.sum()) * 2)


def taken(python: Path | str, code: str, words: Sequence[str], samples: int, output: Path) -> tuple[float, float]:
    """CPU seconds and MB of a build of index files in a process of its own."""
    given = json.dumps([list(words), LENGTH, samples, TOKENIZER, str(output)])
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    command = [str(python), "-c", "import re\n" + PEAK + code + REPORT, given]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
    seconds, megabytes = json.loads(done.stdout.splitlines()[-1])
    return round(seconds, 3), round(megabytes)


def measure(ids: int, python: Path = PYTHON) -> dict[str, Any]:
    """All figures; those of megatron-core are None where it is not installed. AssertionError if files differ."""
    found: dict[str, Any] = {"million_ids": ids / 1e6, "epochs": EPOCHS}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name, size in (("all", ids), ("left", ids // 2), ("right", ids // 2)):
            write_indexed(folder / name, size, size)
        samples = ids * EPOCHS // LENGTH - 1000
        blend = ["0.7", str(folder / "left"), "0.3", str(folder / "right")]
        for key, words in (("", [str(folder / "all")]), ("blend_", blend)):
            ours, theirs = folder / f"{key}ours", folder / f"{key}theirs"
            found[f"{key}ours_cpu_s"], found[f"{key}ours_peak_mb"] = taken(sys.executable, OURS, words, samples, ours)
            found[f"{key}megatron_cpu_s"] = found[f"{key}megatron_peak_mb"] = None
            if python.exists():
                numbers = taken(python, MEGATRON, words, samples, theirs)
                found[f"{key}megatron_cpu_s"], found[f"{key}megatron_peak_mb"] = numbers
                files = sorted(file.name for file in theirs.iterdir())
                assert files == sorted(file.name for file in ours.iterdir())
                assert all((ours / name).read_bytes() == (theirs / name).read_bytes() for name in files)
    return found


def main() -> None:
    """Measures, and prints the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(":", maxsplit=1)[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--ids", type=int, default=IDS)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--python", type=Path, default=PYTHON)
    said = parser.parse_args()
    found = measure(QUICK_IDS if said.quick else said.ids, said.python)
    if said.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name:24} {'not measured' if value is None else f'{value:,}'}")


if __name__ == "__main__":
    main()
