"""Runs every benchmark and writes `docs/benchmarks.md`: `python -m benchmarks.publish [--quick] [--only NAME ...]`.

The simulated clusters of `docs/scale.md` follow from its figures, and are written with them.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import (
    added_source,
    attribute_files,
    chat,
    cluster,
    command,
    containment,
    contamination,
    contamination_quality,
    dedup_check,
    dedup_labelled,
    dedup_peers,
    dedup_quality,
    dedupers,
    demo,
    digests,
    document_memory,
    driver,
    engines,
    estimate,
    event_log,
    export,
    forecast,
    goals,
    kernels,
    language_models,
    learned_filters,
    masked_formats,
    materialize_all,
    megatron_cache,
    minhash,
    month,
    one_file,
    packings,
    plan,
    raw_places,
    real,
    semantic,
    sensor,
    small_datasets,
    stages,
    stores,
    substrings,
    substrings_memory,
    taggers,
    text_index,
    tokenize,
    warc,
    web_text,
    worker_memory,
)
from resources.formats.jsonl.compressions import COMPRESSIONS
from tests.object_store import ENVIRONMENT, weed

TARGET = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
PAGE = Path(__file__).with_name("page.md").read_text(encoding="utf-8")
"""The text of `docs/benchmarks.md`, a section for each benchmark, with places for figures."""


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


_OF_STAGES = (
    "small_text_mb",
    "text_mb",
    "corpus",
    *(f"{un}{name}_alone_ms" for name in COMPRESSIONS for un in ("un", "")),
    *(f"disk_{name}" for name in COMPRESSIONS),
)


def _stages(quick: bool) -> dict[str, Any]:
    found = stages.measure(stages.QUICK_MEGABYTES if quick else stages.MEGABYTES)
    return {**{key: found[key] for key in _OF_STAGES}, "stages": stage_table(found)}


def _quality(quick: bool) -> dict[str, Any]:
    figures, curves = dedup_quality.measure(quick)
    if not quick:
        dedup_quality.draw_plot(curves)
    small, large = dedup_check.QUICK_MEGABYTES if quick else dedup_check.MEGABYTES
    return {
        "check_small_mb": small,
        "check_mb": large,
        "quality": table(figures),
        "families": dedup_quality.compare_families(quick),
        "checks": dedup_quality.compare_checks(quick),
    }


def _plan(quick: bool) -> dict[str, Any]:
    shards = plan.QUICK_SHARDS if quick else plan.SHARDS
    return {"plan": table(plan.measure(shards) | (plan.measure_s3(shards) if weed() else {}))}


def _driver(quick: bool) -> dict[str, Any]:
    found = driver.measure(driver.QUICK_SHARDS if quick else driver.SHARDS)
    size = {"shards": f"{found['measured_at_shards']:,}", "partitions": f"{found['partitions']:,}"}
    return size | {"driver": table(found | driver.speedup(*driver.QUICK_LARGE if quick else driver.LARGE))}


def _estimate(quick: bool) -> dict[str, Any]:
    sizes, seconds = (
        (estimate.QUICK_MEGABYTES, estimate.QUICK_SECONDS) if quick else (estimate.MEGABYTES, estimate.SECONDS)
    )
    return {name: table(found) for name, found in estimate.measure(sizes, seconds).items()}


def _materialize_all(quick: bool) -> dict[str, Any]:
    return {"materialize_all": table(materialize_all.measure(demo.QUICK_MEGABYTES if quick else demo.MEGABYTES))}


def _web_text(quick: bool) -> dict[str, Any]:
    python = os.environ.get("PEERS_PYTHON", sys.executable)
    figures = web_text.measure(quick, python)
    if not quick:
        web_text.write_page(figures)
    return {"web_text": web_text.section(figures)}


def _apart(script: str, *options: str) -> dict[str, Any]:
    """The figures of a script in a process of its own: what this one holds or has compiled would count as theirs."""
    command = [sys.executable, "-m", f"benchmarks.{script}", "--json", *options]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


MEASURES: dict[str, Callable[[bool], dict[str, Any]]] = {
    "stages": _stages,
    "real": real.published,
    "minhash": lambda quick: {"minhash": table(minhash.measure(quick))},
    "taggers": lambda quick: {"taggers": table(taggers.measure(quick))},
    "dedupers": lambda quick: {"dedupers": table(dedupers.measure(quick))},
    "substrings": lambda quick: {"substrings": table(substrings.measure(quick))},
    "substrings_memory": lambda quick: {"substrings_memory": table(substrings_memory.measure(quick))},
    "semantic": lambda quick: {"semantic": table(semantic.measure(quick))},
    "contamination": lambda quick: {"contamination": table(contamination.measure(quick))},
    "contamination_quality": lambda quick: {
        "contamination_quality": contamination_quality.section(contamination_quality.measure(quick))
    },
    "text_index": lambda quick: {"text_index": table(text_index.figures(quick))},
    "dedup_quality": _quality,
    "containment": lambda quick: {"containment": containment.section(containment.measure(quick))},
    "tokenize": lambda quick: {"tokenize": table(tokenize.measure(quick))},
    "chat": lambda quick: {"chat": table(chat.measure(quick))},
    "export": lambda quick: {"export": table(export.measure(quick))},
    "masked_formats": lambda quick: {"masked_formats": table(masked_formats.measure(quick))},
    "megatron_cache": lambda quick: {
        "megatron_cache": table(megatron_cache.measure(megatron_cache.QUICK_IDS if quick else megatron_cache.IDS))
    },
    "demo": lambda quick: {"demo": table(demo.measure(demo.QUICK_MEGABYTES if quick else demo.MEGABYTES))},
    "kernels": lambda _: {"kernels": table(kernels.slowest(_apart("kernels")))},
    "small_datasets": lambda quick: {"small_datasets": table(small_datasets.measure(quick))},
    "one_file": lambda quick: {"one_file": table(one_file.measure(quick))},
    "plan": _plan,
    "sensor": lambda quick: {"sensor": table(sensor.measure(sensor.QUICK_SHARDS if quick else sensor.SHARDS))},
    "stores": lambda quick: {"stores": table(stores.measure(stores.QUICK_MEGABYTES if quick else stores.MEGABYTES))},
    "digests": lambda quick: {"digests": table(digests.measure(quick))},
    "raw_places": lambda quick: {
        "raw_places": table(raw_places.measure(raw_places.QUICK_MEGABYTES if quick else raw_places.MEGABYTES))
    },
    "packings": lambda quick: {
        "packings": table(packings.measure(packings.QUICK_MEGABYTES if quick else packings.MEGABYTES))
    },
    "warc": lambda quick: {"warc": table(warc.measure(quick))},
    "attribute_files": lambda quick: {"attribute_files": table(attribute_files.measure(quick))},
    "learned_filters": lambda quick: {"learned_filters": table(learned_filters.measure(quick))},
    "language_models": lambda quick: {"language_models": table(language_models.measure(quick))},
    "web_text": _web_text,
    "driver": _driver,
    "month": lambda quick: {"month": table(month.figures(quick))},
    "engines": lambda quick: {"engines": table(engines.figures(quick))},
    "event_log": lambda quick: {
        "event_log": table(event_log.measure(*(event_log.QUICK_EVENTS if quick else event_log.EVENTS)))
    },
    "worker_memory": lambda quick: {"worker_memory": table(worker_memory.figures(quick))},
    "document_memory": lambda quick: {"document_memory": table(document_memory.figures(quick))},
    "estimate": _estimate,
    "added_source": lambda quick: {"added_source": table(added_source.measure(quick))},
    "forecast": lambda quick: {"forecast": forecast.section(forecast.measure(quick))},
    "materialize_all": _materialize_all,
    "command": lambda quick: {"command": table(command.measure(command.QUICK_RUNS if quick else command.RUNS))},
    "dedup_labelled": lambda quick: {
        "labelled": dedup_labelled.section(_apart("dedup_labelled", *(["--quick"] if quick else [])))
    },
    "dedup_peers": lambda quick: {
        "beside": dedup_peers.section(_apart("dedup_peers", *(["--quick"] if quick else [])))
    },
}
"""What each section shows, by the name of its script; in the order of the page."""

READ_BY_CLUSTER = ("stages", "driver")
"""Sections whose figures the simulation of clusters reads: docs/scale.md follows them."""


def sections(page: str) -> list[str]:
    """The head of a page, then its sections, each with its title."""
    head, *rest = page.split("\n## ")
    return [head, *(f"## {part}".strip() + "\n" for part in rest)]


def made(name: str, quick: bool) -> str:
    """A section with its figures, measured now."""
    text = sections(PAGE)[1 + list(MEASURES).index(name)].format(**MEASURES[name](quick))
    return f"{text}\n{goals.QUICK}: the inputs are small.\n" if quick else text


def _published(chosen: Sequence[str], quick: bool) -> None:
    """Measures sections and puts each into the page as soon as it is made; the others stay as they are."""
    parts = {part.partition("\n")[0]: part for part in sections(PAGE)[1:]}
    for name in chosen:
        new = made(name, quick)  # First: the page may be edited while this takes its minutes.
        written = TARGET.read_text(encoding="utf-8") if TARGET.exists() else ""
        there = {part.partition("\n")[0]: part for part in sections(written)[1:]}
        kept = {title: there.get(title) for title in parts} | {new.partition("\n")[0]: new}
        head = sections(PAGE)[0].format(cores=len(os.sched_getaffinity(0)), python=platform.python_version())
        body = "\n".join(part for part in kept.values() if part)
        TARGET.write_text("\n".join([head, goals.section(f"\n{body}"), body]), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small inputs, to see that everything runs")
    parser.add_argument(
        "--only", nargs="+", choices=MEASURES, help="make only these sections again, and keep the others"
    )
    given = parser.parse_args()
    os.environ.update(ENVIRONMENT)  # The credentials of the servers on loopback that some of them start.
    chosen = given.only or list(MEASURES)
    _published(chosen, given.quick)
    if set(chosen) & set(READ_BY_CLUSTER):
        cluster.publish_defaults()


if __name__ == "__main__":
    main()
