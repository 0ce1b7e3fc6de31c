"""Runs every benchmark and writes `docs/benchmarks.md`: `python -m benchmarks.publish [--quick] [--only NAME ...]`."""

import argparse
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import (
    command,
    contamination,
    dedup_quality,
    dedupers,
    demo,
    driver,
    engines,
    estimate,
    export,
    goals,
    materialize_all,
    minhash,
    plan,
    raw_places,
    stages,
    stores,
    taggers,
    tokenize,
)
from benchmarks.peers.page import section as peers_section
from benchmarks.peers.page import with_section
from tests.object_store import ENVIRONMENT, weed

TARGET = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"

PAGE = """# Benchmarks

`python -m benchmarks.publish` writes this page. Every figure comes from the script named in its section, on
a machine with {cores} cores and Python {python}. Rates are MB (10^6 bytes) of document text per CPU-second of one
core. Compare them with each other rather than with those of another machine.

## Stages

`python -m benchmarks.stages`: {small_text_mb} and {text_mb} MB of text ({corpus} corpus), `jsonl.gz` in, each stage in
a process of its own. What one more MB of text costs (ms per MB, and its inverse) is told from what a stage costs before
it has done anything: imports, compiled kernels, partitions with next to no rows. All are over the text of the whole
corpus, so they add up; `pipeline` is raw to decontaminated train.

{stages}

## Signatures

`python -m benchmarks.minhash` measures everything between a text and its signature. `ratio` says how many times as
fast `affine32` is as datasketch's `update` called shingle by shingle, its `bulk` call, and rensa, on the same texts
in turns. Figures with `ascii` are for ASCII texts only; the others are for all texts, mixed as they come.

{minhash}

## Taggers

`python -m benchmarks.taggers`: everything between a text and its row of attributes, each tagger alone, and
`five together` (Gopher, C4, PII, length, repetitions) in one pass. `ratio` says how many times as fast each is as that
of dolma 1.2.1 on an even sample of the same texts, its reading and writing left out.

{taggers}

## Dedupers

`python -m benchmarks.dedupers`: the stages of whole documents (`text`), paragraphs, and paragraphs by n-grams of 13
words, from normalized documents to attributes.

{dedupers}

## Contamination

`python -m benchmarks.contamination`: everything between a text and the n-grams of 100,000 benchmark items in it.

{contamination}

## Near-duplicates found

`python -m benchmarks.dedup_quality` measures recall and precision against true Jaccard similarity at 0.8, on the
labelled pairs of the shared data (`pairs`) and on generated pairs that spread evenly over 0.5 to 1 (`made`). `missed
above 095` counts the pairs of similarity 0.95 or more that the sketches missed. `default` is what a corpus.yaml that
says nothing does; `removed below threshold` the share of the documents it removes that are less similar than that to
the one kept in their stead.

{quality}

What the families of signatures find with the default bands and check (`--families`):

{families}

Other ways to check the same candidates, with their bytes per document (`--checks`). The default is 1024 x 1 bit.

{checks}

## Token datasets

`python -m benchmarks.tokenize`: `text to hdf5` is the whole way from `jsonl.gz` to packed, deflated HDF5 of 2,048
tokens a row; it is compared with the same rows made with `tokenizers` and h5py's own gzip. `tokenize` is tokenization
alone; it is compared with `tokenizers.encode_batch` and tiktoken on a twelfth of the same texts. `vsl` packs whole
documents with best fit.

{tokenize}

## Token streams and files for trainers

`python -m benchmarks.export`: `stream` is text to token stream, in MB of text per CPU-second; each format is from the
stream to its files, in millions of ids per CPU-second; `reader` reads windows of 2,049 ids in a keyed order, in MB of
ids per CPU-second. `copy` is numpy copying the same bytes in order.

{export}

## The sample corpus

`python -m benchmarks.demo` runs `make demo` without the installation of packages, without compiled
kernels and with an empty cache folder (fresh), with both (first), then the same build again (second). `fresh to first`
is the ratio of the two; with other work on the machine, that of CPU seconds is the one to believe.

{demo}

## The plan

`python -m benchmarks.plan` measures the seconds to decide on every partition of a fresh corpus, by number of shards.
`first look` reads every record; `again` is a new process with the snapshots that the first one left. `s3` is a corpus
in an object store (SeaweedFS on loopback), with the number of requests.

{plan}

## Stores

`python -m benchmarks.stores` builds the sample corpus on a local disk and on S3 (SeaweedFS on loopback), each in one
process, and counts the CPU time of that process alone. `s3 cpu ratio` is that of the build on S3 over the local one.
`bytes read twice` counts bytes of objects that the build was sent although it had had them.

{stores}

## Raw files elsewhere

`python -m benchmarks.raw_places` reads the same `jsonl.gz` from a local folder, from S3 (SeaweedFS on loopback) and
from a web server: CPU seconds per MB of text of the two stages that read raw files, `raw_source` and
`normalized_documents`. A `ratio` is over the local folder. `moved` is bytes received per byte of the raw files, which
are read twice.

{raw_places}

## The driver

`python -m benchmarks.driver` builds corpora of shards of ten short documents with two workers and measures the process
that drives the build: its CPU per partition (slope over two numbers of shards) and per build, and the share of the time
in which a worker computes or commits. Figures for 10000 shards lie on the line through both measurements. `two workers
speedup` is the wall time of the stages by shard on larger shards, with one worker over that with two.

{driver}

## Engines

`python -m benchmarks.engines`: the engine of this machine and a Ray cluster of one machine, each with one worker and
with two. `efficiency` is the time of all stages by shard with one worker over twice that with two, the best of turns;
the driver and Ray's own processes share the cores with the workers. `busy share` is how much of the time of two
workers is work on partitions; what else is lost is lost by the machine, whose caches and memory the two share.
`empty` is the time per partition of a stage that does nothing, with two workers: each is computed and committed;
`message` the same of jobs that commit nothing. `worker` is the memory that a worker shares with no other, after it
did all stages.

{engines}

## The estimate

`python -m benchmarks.estimate`: what `corpus estimate` says before a build, over what that build then gave and cost
(`ratio`), for the sample corpus and for generated text.

{demo}

{generated}

## The web UI

`python -m benchmarks.materialize_all` launches a backfill over everything from the web UI, as its button "Materialize
all" does, with all partitions fresh and with an empty store (new): seconds in which its runs start and run. On the
clock come the waits of Dagster's daemon, which looks at backfills every 30 seconds and at queued runs every 5.

{materialize_all}

## The command

`python -m benchmarks.command` measures CPU seconds of whole processes, the least of several runs: `corpus --help`,
and `corpus plan` on a fresh corpus of three shards. `modules` counts what each loads.

{command}
"""


def stage_table(figures: Mapping[str, Any]) -> str:
    """One row per stage."""
    rows = ["| stage | ms per MB | MB per CPU-second | fixed CPU s | peak memory, MB |", "|---|---:|---:|---:|---:|"]
    for name in stages.names_of(figures):
        slope, rate, fixed, peak = (
            figures[f"{name}_{key}"] for key in ("ms_per_mb", "mb_per_cpu_s", "fixed_cpu_s", "peak_rss_mb")
        )
        rows.append(f"| {name} | {slope:,.2f} | {rate:,.1f} | {fixed:,.2f} | {peak:,.0f} |")
    return "\n".join(rows)


def table(figures: Mapping[str, Any]) -> str:
    """One row per figure."""
    rows = [f"| {name.replace('_', ' ')} | {_shown(value)} |" for name, value in figures.items()]
    return "\n".join(["| figure | value |", "|---|---:|", *rows])


def _shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int | float) else "not measured" if value is None else str(value)


def _stages(quick: bool) -> dict[str, Any]:
    found = stages.measure(stages.QUICK_MEGABYTES if quick else stages.MEGABYTES)
    return {**{key: found[key] for key in ("small_text_mb", "text_mb", "corpus")}, "stages": stage_table(found)}


def _quality(quick: bool) -> dict[str, Any]:
    return {
        "quality": table(dedup_quality.measure(quick)[0]),
        "families": dedup_quality.compare_families(quick),
        "checks": dedup_quality.compare_checks(quick),
    }


def _plan(quick: bool) -> dict[str, Any]:
    shards = plan.QUICK_SHARDS if quick else plan.SHARDS
    return {"plan": table(plan.measure(shards) | (plan.measure_s3(shards) if weed() else {}))}


def _driver(quick: bool) -> dict[str, Any]:
    found = driver.measure(driver.QUICK_SHARDS if quick else driver.SHARDS)
    return {"driver": table(found | driver.speedup(*driver.QUICK_LARGE if quick else driver.LARGE))}


def _estimate(quick: bool) -> dict[str, Any]:
    sizes, seconds = (
        (estimate.QUICK_MEGABYTES, estimate.QUICK_SECONDS) if quick else (estimate.MEGABYTES, estimate.SECONDS)
    )
    return {name: table(found) for name, found in estimate.measure(sizes, seconds).items()}


def _materialize_all(quick: bool) -> dict[str, Any]:
    return {"materialize_all": table(materialize_all.measure(demo.QUICK_MEGABYTES if quick else demo.MEGABYTES))}


MEASURES: dict[str, Callable[[bool], dict[str, Any]]] = {
    "stages": _stages,
    "minhash": lambda quick: {"minhash": table(minhash.measure(quick))},
    "taggers": lambda quick: {"taggers": table(taggers.measure(quick))},
    "dedupers": lambda quick: {"dedupers": table(dedupers.measure(quick))},
    "contamination": lambda quick: {"contamination": table(contamination.measure(quick))},
    "dedup_quality": _quality,
    "tokenize": lambda quick: {"tokenize": table(tokenize.measure(quick))},
    "export": lambda quick: {"export": table(export.measure(quick))},
    "demo": lambda quick: {"demo": table(demo.measure(demo.QUICK_MEGABYTES if quick else demo.MEGABYTES))},
    "plan": _plan,
    "stores": lambda quick: {"stores": table(stores.measure(stores.QUICK_MEGABYTES if quick else stores.MEGABYTES))},
    "raw_places": lambda quick: {
        "raw_places": table(raw_places.measure(raw_places.QUICK_MEGABYTES if quick else raw_places.MEGABYTES))
    },
    "driver": _driver,
    "engines": lambda quick: {"engines": table(engines.figures(quick))},
    "estimate": _estimate,
    "materialize_all": _materialize_all,
    "command": lambda quick: {"command": table(command.measure(command.QUICK_RUNS if quick else command.RUNS))},
}
"""What each section shows, by the name of its script; in the order of the page."""


def sections(page: str) -> list[str]:
    """The head of a page, then its sections, each with its title."""
    head, *rest = page.split("\n## ")
    return [head, *(f"## {part}".strip() + "\n" for part in rest)]


def made(name: str, quick: bool) -> str:
    """A section with its figures, measured now."""
    text = sections(PAGE)[1 + list(MEASURES).index(name)].format(**MEASURES[name](quick))
    return f"{text}\nMeasured with `--quick`: the inputs are small.\n" if quick else text


def _published(chosen: Sequence[str], quick: bool) -> None:
    """Measures sections and puts each into the page as soon as it is made; the others stay as they are."""
    parts = {part.partition("\n")[0]: part for part in sections(PAGE)[1:]}
    for name in chosen:
        written = TARGET.read_text(encoding="utf-8") if TARGET.exists() else ""
        there = {part.partition("\n")[0]: part for part in sections(written.replace(peers_section(written), ""))[1:]}
        new = made(name, quick)
        kept = {title: there.get(title) for title in parts} | {new.partition("\n")[0]: new}
        head = sections(PAGE)[0].format(cores=len(os.sched_getaffinity(0)), python=platform.python_version())
        body = "\n".join(part for part in kept.values() if part)
        page = "\n".join([head, goals.section(f"\n{body}"), body])
        TARGET.write_text(with_section(page, peers_section(written)), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small inputs, to see that everything runs")
    parser.add_argument("--only", nargs="+", choices=MEASURES, help="make these sections anew and keep the others")
    given = parser.parse_args()
    os.environ.update(ENVIRONMENT)  # The credentials of the servers on loopback that some of them start.
    _published(given.only or list(MEASURES), given.quick)


if __name__ == "__main__":
    main()
