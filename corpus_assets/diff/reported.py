"""Numbers from a report that was kept: `report.json`, or the page that holds the same JSON."""

import re
from typing import Any

import msgspec
from pydantic import ValidationError

from corpus_assets.config.selection.contamination import Contamination
from corpus_assets.diff.numbers import FILE_BYTES, Asset, Measures, Numbers, flattened
from corpus_assets.diff.recorded import MIXED, READ
from resources.errors import BadFileError

VERSIONS = (1,)
_NUMBERS = re.compile(rb'<script type="application/json" id="numbers">(.*?)</script>', re.DOTALL)
_KEPT = "kept"


class _Source(msgspec.Struct):
    name: str
    files: int = 0
    listed: int | None = None
    raw_bytes: int = 0
    dataset: str | None = None


class _Loss(msgspec.Struct):
    reason: str
    documents: int
    by_source: dict[str, int] | None = None


class _Step(msgspec.Struct):
    name: str
    asset: str
    by_source: dict[str, Measures] | None = None
    losses: list[_Loss] = []


class _Split(msgspec.Struct):
    name: str
    documents: int
    text_bytes: int


class _Dataset(msgspec.Struct):
    name: str
    rows: int
    tokens: int
    documents: int | None = None
    loss_tokens: int | None = None


class _Duplicates(msgspec.Struct):
    clusters: int
    removed: int
    largest: int


class _Stage(msgspec.Struct):
    code_version: str
    partitions: int


class _Report(msgspec.Struct):
    """The part of a report that is compared; the report may have more."""

    version: int
    name: str
    sources: list[_Source]
    steps: list[_Step]
    splits: list[_Split]
    datasets: list[_Dataset]
    configuration: dict[str, Any]
    stages: dict[str, _Stage]
    duplicates: _Duplicates | None = None


def reported(content: bytes, where: str) -> Numbers:
    """Returns the numbers of a kept report. where: the file, for messages.

    Raises `BadFileError` for anything else, and for a report of a version that is not known.
    """
    if len(content) > FILE_BYTES:
        raise BadFileError(where, f"is larger than {FILE_BYTES >> 20} MiB, which no report is")
    if content.lstrip()[:1] != b"{":
        held = _NUMBERS.search(content)
        if held is None:
            raise BadFileError(where, "is no report: neither JSON, nor a page with the numbers of one")
        content = held[1]
    try:
        report = msgspec.json.decode(content, type=_Report)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadFileError(where, f"is no report: {error}") from None
    if report.version not in VERSIONS:
        known = ", ".join(map(str, VERSIONS))
        raise BadFileError(where, f"is a report of version {report.version}; those that can be compared: {known}")
    return _numbers(report)


def _as_recorded(configuration: dict[str, Any]) -> dict[str, Any]:
    """Returns a configuration with numbers for what it says of n-grams in words or not at all, as records have it."""
    try:
        section = Contamination.model_validate(configuration.get("contamination"))
    except ValidationError:
        return configuration
    numbers = {"words": section.ngram, "shortest_item": section.shortest}
    return {**configuration, "contamination": {**configuration["contamination"], **numbers}}


def _numbers(report: _Report) -> Numbers:
    found = Numbers(report.name, "report", configuration=flattened(_as_recorded(report.configuration)))
    found.assets = {name: Asset(stage.code_version, stage.partitions) for name, stage in report.stages.items()}
    for source in report.sources:
        if source.dataset is None:
            # Reports without `listed` counted the files that lists name as raw files.
            files = {} if source.listed is None else {"raw_files": source.files}
            found.sources[source.name] = {**files, "raw_bytes": source.raw_bytes}
    for step in report.steps:
        _add_step(found, step)
    found.splits = {one.name: {"documents": one.documents, "text_bytes": one.text_bytes} for one in report.splits}
    for dataset in report.datasets:
        measures = msgspec.structs.asdict(dataset)
        found.datasets[dataset.name] = {
            name: count for name, count in measures.items() if name != "name" and count is not None
        }
    if report.duplicates is not None:
        found.duplicates = msgspec.structs.asdict(report.duplicates)
    return found


def _add_step(found: Numbers, step: _Step) -> None:
    wanted = {READ: {"documents": "documents", "text_bytes": "text_bytes"}}.get(step.asset, {})
    if (step.asset, step.name) == (MIXED, _KEPT):
        wanted = {"mixed": "documents"}
    for source, numbers in (step.by_source or {}).items():
        counted = {ours: numbers[theirs] for ours, theirs in wanted.items() if theirs in numbers}
        found.sources.setdefault(source, {}).update(counted)
    for loss in step.losses:
        of_asset = found.dropped.setdefault(step.asset, {})
        of_asset[loss.reason] = {"": loss.documents} if loss.by_source is None else loss.by_source
