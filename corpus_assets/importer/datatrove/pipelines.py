"""Scripts of datatrove as one corpus.yaml, block by block."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from corpus_assets.importer.datatrove import c4, dedup, ends, filters, fineweb2
from corpus_assets.importer.datatrove.draft import Trove
from corpus_assets.importer.datatrove.names import (
    LEFT_BLOCKS,
    LEFT_OF_EXECUTORS,
    OF_SCHEDULERS,
    READERS,
    TOKENIZERS,
    WRITERS,
)
from corpus_assets.importer.datatrove.presets import preset
from corpus_assets.importer.datatrove.script import Pipeline, read_pipelines
from corpus_assets.importer.datatrove.values import Block
from corpus_assets.importer.draft import Draft
from corpus_assets.importer.finishing import finished
from corpus_assets.importer.given import Unknown, shown, whole

_Take = Callable[[Trove, Block], None]
_MINHASH = ("MinhashDedupSignature", "MinhashDedupBuckets", "MinhashDedupCluster", "MinhashDedupFilter")
_URLS = ("UrlDedupSignature", "UrlFindDedups", "UrlDedupFilter")


def _fix(trove: Trove, block: Block) -> None:
    """Sets ftfy for all texts."""
    given = trove.given(block)
    fixes = {"unescape_html": "auto", "fix_latin_ligatures": False, "fix_character_width": False}
    section: dict[str, Any] = {}
    for key, default in {**fixes, "uncurl_quotes": False}.items():
        value = given.take(key, f"normalize.ftfy.{key}", _plain) if key in given.values else default
        section[key] = default if value is None else value
    trove.draft.values["normalize"] = {"method": "ftfy", "ftfy": section}
    trove.draft.take(given.where.strip(), "normalize.method: ftfy")
    given.leave("normalization", "the result is in NFC")
    trove.finish(given)


def _plain(value: Any) -> Any:
    if not isinstance(value, bool) and value != "auto":
        raise ValueError("true, false or auto")
    return value


_TAKE: Mapping[str, _Take] = {
    **dict.fromkeys(READERS, ends.read),
    **dict.fromkeys(WRITERS, ends.write),
    **dict.fromkeys(TOKENIZERS, ends.tokenize),
    **dict.fromkeys(_MINHASH, dedup.minhash),
    **dict.fromkeys(_URLS, dedup.urls),
    "HuggingFaceDatasetReader": ends.read_hub,
    "Trafilatura": ends.extract,
    "FTFYFormatter": _fix,
    "PIIFormatter": filters.personal,
    "GopherQualityFilter": filters.gopher_quality,
    "GopherRepetitionFilter": filters.gopher_repetition,
    "C4QualityFilter": c4.c4_quality,
    "FineWebQualityFilter": filters.fineweb_quality,
    "LanguageFilter": filters.language,
    "RegexFilter": filters.regex,
    "SamplerFilter": filters.sample,
}
TAKEN_BLOCKS = tuple(_TAKE)


def import_datatrove(files: Sequence[Path], folder: Path) -> Draft:
    """Returns one corpus.yaml for the pipelines of scripts, in order.

    files: scripts, which are parsed and never run. folder: the folder of the new corpus.yaml. `ConfigError` if a script
    is no Python or has no pipeline, or if no source can be made.
    """
    draft = Draft({"sources": [], "normalize": {"method": "none"}, "short_documents": {"threshold": 0}, "datasets": []})
    trove = Trove(draft, folder)
    for file in files:
        trove.label = f"{file.name}, " if len(files) > 1 else ""
        pipelines = read_pipelines(file)
        steps = (step for pipeline in pipelines for step in pipeline.steps)
        trove.fineweb2 = fineweb2.language_of(trove, (step for step in steps if isinstance(step, Block)))
        for pipeline in pipelines:
            _take(trove, pipeline)
    if trove.filter:
        draft.values["filter"] = trove.filter
    draft.values["mix"] = {**draft.values.get("mix", {}), "leave_out": trove.leave_out}
    draft.values["split"] = {"holdout": 0.0}
    if not draft.values["sources"]:
        draft.values["datasets"] = []
    elif trove.writer is not None:
        draft.add("datasets", {**trove.writer, "name": draft.free_name("datasets", trove.writer["name"])})
    return finished(draft, str(files[0]))


def _take(trove: Trove, pipeline: Pipeline) -> None:
    for step in pipeline.steps:
        if isinstance(step, Block):
            _take_block(trove, step)
        else:
            said = step.said if isinstance(step, Unknown) else shown(step)
            trove.draft.leave(f"{trove.label}step {said}", LEFT_BLOCKS["LambdaFilter"])
    if pipeline.executor is not None:
        _take_executor(trove, pipeline.executor)


def _take_block(trove: Trove, block: Block) -> None:
    given = trove.given(block)
    if (take := _TAKE.get(block.name)) is not None:
        if not (fineweb2.take(trove, block) or preset(trove, block)):
            take(trove, block)
        return
    why = LEFT_BLOCKS.get(block.name)
    if why is None and block.name.endswith(("Stats", "StatsMerger")):
        why = "the report of the corpus has statistics (corpus docs report); write a tagger for others"
    trove.draft.leave(given.where.strip(), why or "no block that is known here; write a stage (corpus docs own-stage)")
    for key in given.values:
        given.leave(key, "its block is not taken over")


def _take_executor(trove: Trove, block: Block) -> None:
    given = trove.given(block)
    given.named |= {"pipeline", "argument 1"}
    if given.values.get("workers") in (-1, None):
        given.leave("workers", "-1 is as many as tasks; `engine.workers: auto` is one per core")
    elif workers := given.take("workers", "engine.workers", whole):
        known = trove.draft.values.get("engine", {}).get("workers", 0)
        trove.draft.values["engine"] = {"workers": max(workers, known)}
    given.leave_all(LEFT_OF_EXECUTORS)
    given.finish(OF_SCHEDULERS)
