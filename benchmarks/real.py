"""A corpus of real texts through every stage: `python -m benchmarks.real [--gigabytes N] [--quick] [--json]`.

Pages of documentation as WARC and a source tree as JSON lines, from Debian packages that apt downloads; one that it
cannot is left out, with the reason. Everything is built twice, from all of the bytes and from a third of them: five
taggers, a filter, near-duplicates, a holdout, shuffled HDF5, Megatron and OLMo. Wall time, CPU seconds by stage, the
memory of all processes together (PSS) beside `engine.memory`, and the disk that the store takes. Then what other tools
need for some of the same steps on a sample of the same texts. It takes up to 12 GB of disk, which it frees.

`growth` of a stage is how many times as much CPU time it takes for more bytes, over how many times as many they are:
over 1 it is slower than linear.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from benchmarks import real_peers, real_plot, real_texts
from benchmarks.process_tree import Taken, run

GIGABYTES, QUICK_GIGABYTES = 3.0, 0.03
SMALLER = 3
"""Times as many bytes as the smaller build has."""
MEMORY = 4 << 30
MB = 1e6
LEAST_SECONDS = 1.0
"""CPU seconds in the smaller build that a stage needs to have a growth; of less it is mostly fixed cost."""
PLOT = Path(__file__).resolve().parents[1] / "docs" / "real-stages.svg"
ROOT = Path(__file__).resolve().parents[1]
TAGGERS = ("gopher_v2", "c4_v2", "pii_regex_with_counts_fast_v2", "char_length_v1", "cld2_en_doc_v2")


def fetch(cache: Path, texts: Path) -> dict[str, str]:
    """Unpacks every package into a folder of its name; returns the reasons of those that are absent."""
    absent = {}
    for package in (*real_texts.PAGES, *real_texts.SOURCES):
        try:
            real_texts.unpack(real_texts.download(package, cache), texts / package)
        except real_texts.AbsentError as fault:
            absent[package] = str(fault)
            print(f"{package} is left out: {fault}", file=sys.stderr)
    return absent


def total_bytes(texts: Path) -> int:
    """Bytes of all pages and source files."""
    return sum(len(content) for _, found in _packages(texts, 1) for _, content in found)


def write_raw(texts: Path, raw: Path, share: float) -> tuple[int, int]:
    """Writes raw files of a share of all pages and source files; returns their number and their bytes."""
    files = size = 0
    for package, found in _packages(texts, share):
        counted = _Counted(found)
        if package in real_texts.PAGES:
            size += real_texts.write_pages(counted, raw / "pages", package)
        else:
            size += real_texts.write_sources(counted, raw / "code", package)
        files += counted.number
    return files, size


class _Counted:
    """Counts what is taken of an iterator."""

    def __init__(self, found: Any) -> None:
        self._found = found
        self.number = 0

    def __iter__(self) -> Any:
        for item in self._found:
            self.number += 1
            yield item


def _packages(texts: Path, share: float) -> Any:
    for package in (*real_texts.PAGES, *real_texts.SOURCES):
        files = real_texts.pages if package in real_texts.PAGES else real_texts.sources
        found = files(texts / package)
        yield package, (item for item in found if real_texts.is_in(f"{package}/{item[0]}", share))


def write_config(folder: Path, workers: int) -> None:
    """The corpus.yaml over the raw files of a folder."""
    kinds: dict[str, dict[str, Any]] = {"pages": {"format": "warc", "extractor": "resiliparse"}, "code": {}}
    output = {"input": "decontaminated_train"}
    config = {
        "name": "real",
        "sources": [
            {"name": name, "location": f"raw/{name}"} | more
            for name, more in kinds.items()
            if (folder / "raw" / name).is_dir()
        ],
        "storage": {"root": "corpus"},
        "engine": {
            "kind": "benchmarks.timed_engine:open_timed",
            "options": {"workers": workers},
            "memory": MEMORY,
        },
        "attributes": [{"name": "quality", "taggers": list(TAGGERS)}],
        "filter": {"rules": {"quality.gopher_v2.word_count": {"min": 20}}},
        "mix": {"chunks": 16},
        "split": {"holdout": 0.01},
        "tokenizer": {"kind": "train", "vocabulary": 32_000, "sample": "16 MiB"},
        "datasets": [
            {"name": "packed", "sequence_length": 2048, "shuffle": True} | output,
            {"name": "megatron", "format": "megatron"} | output,
            {"name": "olmo", "format": "olmo"} | output,
        ],
    }
    (folder / "corpus.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")


def build(folder: Path) -> tuple[dict[str, Any], Taken]:
    """Builds the corpus of a folder in processes of its own; returns its figures and what they took."""
    taken = run([sys.executable, "-m", "benchmarks.driver_run", str(folder)], folder=ROOT)
    found: dict[str, Any] = json.loads(taken.output.splitlines()[-1])
    return found, taken


def disk_bytes(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def measure(gigabytes: float, cache: Path | None = None, with_peers: bool = True) -> dict[str, Any]:
    """The figures of two sizes; those of the smaller are apart, for stages. cache: a folder that keeps packages."""
    workers = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as place:
        packages = cache or Path(place, "packages")
        packages.mkdir(parents=True, exist_ok=True)
        texts = Path(place, "texts")
        absent = fetch(packages, texts)
        if not (whole := total_bytes(texts)):
            return {"absent": absent}
        share = min(1.0, gigabytes * 1e9 / whole)
        sizes = []
        for number, part in enumerate((share / SMALLER, share)):
            folder = Path(place, f"size-{number}")
            files, size = write_raw(texts, folder / "raw", part)
            if part == share:
                shutil.rmtree(texts)
            write_config(folder, workers)
            figures, taken = build(folder)
            sizes.append(_of_size(folder, files, size, figures, taken))
            print(json.dumps(sizes[-1]), file=sys.stderr)
            if part != share:
                shutil.rmtree(folder)
        peers = real_peers.measure(folder) if with_peers else {}
    return {"absent": absent, "workers": workers, "small": sizes[0], "large": sizes[1], "peers": peers}


def _of_size(folder: Path, files: int, size: int, figures: Mapping[str, Any], taken: Taken) -> dict[str, Any]:
    return {
        "files": files,
        "raw_mb": round(size / MB, 1),
        "text_mb": round(real_peers.text_bytes(folder) / MB, 1),
        "wall_s": taken.wall_seconds,
        "cpu_s": taken.cpu_seconds,
        "peak_memory_mb": round(taken.peak_bytes / MB),
        "disk_mb": round(disk_bytes(folder / "corpus") / MB),
        "stages": figures["stages_cpu_s"],
    }


def growths(small: Mapping[str, Any], large: Mapping[str, Any]) -> dict[str, float]:
    """The growth of each stage that takes more than a moment."""
    more = large["raw_mb"] / small["raw_mb"]
    return {
        stage: round(large["stages"].get(stage, 0) / seconds / more, 3)
        for stage, seconds in small["stages"].items()
        if seconds >= LEAST_SECONDS
    }


def figures_of(measured: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of the larger size, and how it compares with the smaller one."""
    small, large = measured["small"], measured["large"]
    grown = growths(small, large)
    return {
        "files": large["files"],
        "raw_mb": large["raw_mb"],
        "text_mb": large["text_mb"],
        "wall_s": large["wall_s"],
        "cpu_s": large["cpu_s"],
        "mb_per_cpu_s": round(large["raw_mb"] / large["cpu_s"], 2),
        "peak_memory_mb": large["peak_memory_mb"],
        "peak_memory_mb_of_a_third": small["peak_memory_mb"],
        "memory_share": round(large["peak_memory_mb"] * MB / MEMORY, 3),
        "disk_mb": large["disk_mb"],
        "cpu_s_of_a_third": small["cpu_s"],
        "growth": round(large["cpu_s"] / small["cpu_s"] * small["raw_mb"] / large["raw_mb"], 3),
        "largest_growth_of_a_stage": max(grown.values(), default=None),
    }


def stage_table(measured: Mapping[str, Any]) -> str:
    """One row per stage that takes a second, most first."""
    small, large = measured["small"], measured["large"]
    grown = growths(small, large)
    rows = ["| stage | CPU s | ms per MB | growth |", "|---|---:|---:|---:|"]
    rest = 0.0
    for stage, seconds in large["stages"].items():
        if seconds < LEAST_SECONDS:
            rest += seconds
            continue
        shown = f"{grown[stage]:.2f}" if stage in grown else ""
        rows.append(f"| {stage} | {seconds:,.1f} | {seconds * 1000 / large['raw_mb']:.2f} | {shown} |")
    outside = large["cpu_s"] - sum(large["stages"].values())
    rows.append(f"| all other stages | {rest:,.1f} | {rest * 1000 / large['raw_mb']:.2f} | |")
    return "\n".join([*rows, f"| driver, imports, kernels | {outside:,.1f} | | |"])


def section(measured: Mapping[str, Any]) -> dict[str, str]:
    """What the page shows."""
    if "large" not in measured:
        nothing = f"Not measured: {'; '.join(f'{name}: {why}' for name, why in measured['absent'].items())}"
        return {"real": nothing, "real_stages": "", "real_peers": "", "real_absent": "", "real_workers": "two"}
    rows = [
        f"| {name.replace('_', ' ')} | {'' if value is None else f'{value:,}'} |"
        for name, value in figures_of(measured).items()
    ]
    absent = "; ".join(f"{name} ({why})" for name, why in measured["absent"].items())
    return {
        "real": "\n".join(["| figure | value |", "|---|---:|", *rows]),
        "real_stages": stage_table(measured),
        "real_peers": real_peers.table(measured["peers"]),
        "real_absent": f"Left out: {absent}." if absent else "No package was left out.",
        "real_workers": str(measured["workers"]),
    }


def published(quick: bool) -> dict[str, str]:
    """What the page shows, measured now; draws the chart too."""
    measured = measure(QUICK_GIGABYTES if quick else GIGABYTES)
    if "large" in measured and not quick:
        draw(measured)
    return section(measured)


def draw(measured: Mapping[str, Any]) -> None:
    """Draws the CPU seconds of stages, beside those of the smaller size times the bytes."""
    more = measured["large"]["raw_mb"] / measured["small"]["raw_mb"]
    bars = [
        real_plot.Bar(stage, seconds, measured["small"]["stages"].get(stage, 0) * more)
        for stage, seconds in measured["large"]["stages"].items()
        if seconds >= LEAST_SECONDS
    ]
    title = f"CPU seconds by stage, {measured['large']['raw_mb'] / 1000:.1f} GB of real text"
    PLOT.write_text(real_plot.draw(title, bars), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=GIGABYTES, help="bytes of pages and source files")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_GIGABYTES} GB")
    parser.add_argument("--cache", type=Path, help="a folder that keeps the packages that are downloaded")
    parser.add_argument("--no-peers", action="store_true", help="leave out other tools")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    given = parser.parse_args()
    measured = measure(QUICK_GIGABYTES if given.quick else given.gigabytes, given.cache, not given.no_peers)
    if given.json:
        print(json.dumps(measured))
        return
    with suppress(BrokenPipeError):
        print("\n\n".join(part for part in section(measured).values() if part))


if __name__ == "__main__":
    main()
