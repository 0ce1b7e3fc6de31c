"""The asset `report`: from the commit records of all other stages to a model, and from that to a page."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import UNSET

from corpus_assets.report.audit.result import FILE, MOST_BYTES, Result, build_of, decoded
from corpus_assets.report.benchmarks import benchmarks
from corpus_assets.report.datasets import datasets
from corpus_assets.report.duplicates import COMPONENTS, duplicates, semantic, substrings
from corpus_assets.report.flow import READ, sources, splits, steps
from corpus_assets.report.learned import classifiers, language_models
from corpus_assets.report.lengths import lengths
from corpus_assets.report.measures import measures
from corpus_assets.report.model import VERSION, Model, Stage, encode
from corpus_assets.report.origins import LANGUAGES, ORIGINS, languages, origins
from corpus_assets.report.records import Built
from corpus_assets.report.timings import timings
from resources.ledger.ledger import partition_name
from resources.ledger.records import ALL, folded
from resources.stage.partition import Partition
from resources.stage.task import Task

CONFIGURATION, STAGES = "configuration", "stages"
MODEL, PAGE = "report/report.json", "report/index.html"


def report(task: Task, assets: Sequence[str], documents: str) -> None:
    """Writes the model, which is the content, and the page, which also shows times and sizes.

    assets: those that it reads. documents: the asset whose texts were compared for duplicates.
    """
    from corpus_assets.report.page import page  # Templates and charts load when a report is made.

    built = {asset: task.inputs(asset) for asset in assets}
    model = model_of(built, task[CONFIGURATION], task[STAGES], documents)
    content = encode(model)
    task.save_bytes(MODEL, content)
    html = page(model, content, timings(built), _audit(task, built))
    task.save_bytes(PAGE, html.encode(), derived=True)
    task.count(rows_out=1, page=PAGE, page_bytes=len(html.encode()))


def _audit(task: Task, built: Built) -> Result | None:
    """Returns what was judged of the present clusters. It is shown on the page, and is no content."""
    said = task.noted(FILE, MOST_BYTES)
    return next((decoded(said, build_of(one.record)) for one in built.get(COMPONENTS, ()) if said is not None), None)


def model_of(built: Built, configuration: Mapping[str, Any], versions: Mapping[str, str], documents: str) -> Model:
    """Returns the model of a report. versions: code version of each stage."""
    histograms, left_out = measures(built, configuration)
    return Model(
        version=VERSION,
        name=configuration["name"],
        sources=sources(built, configuration),
        steps=steps(built),
        splits=splits(built),
        datasets=datasets(built, configuration),
        lengths=lengths(built),
        duplicates=duplicates(
            built, documents if documents in built else READ, configuration["dedup"]["template_share"]
        ),
        benchmarks=benchmarks(built),
        measures=histograms,
        measures_left_out=left_out,
        configuration=dict(configuration),
        origins=origins(built) if ORIGINS in built else UNSET,
        languages=languages(built) if LANGUAGES in built else UNSET,
        stages={asset: _stage(asset, built[asset], versions[asset]) for asset in built},
        substrings=substrings(built, configuration) or UNSET,
        semantic=semantic(built, configuration) or UNSET,
        classifiers=classifiers(built, configuration),
        language_models=language_models(built, configuration),
    )


def _stage(asset: str, partitions: Sequence[Partition], code_version: str) -> Stage:
    records = (partition.record for partition in partitions)
    digests = {partition_name(asset, record.partition): record.digest for record in records}
    return Stage(code_version, len(digests), folded(asset, digests)[f"{asset}/{ALL}"])
