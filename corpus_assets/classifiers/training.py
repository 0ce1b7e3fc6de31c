"""The asset `<name>_classifier`: trained on examples, or read from a file that was exported."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from corpus_assets.classifiers import linear
from corpus_assets.classifiers.calibration import fitted
from corpus_assets.classifiers.figures import figures_of
from corpus_assets.classifiers.files import ExampleFile
from corpus_assets.classifiers.gathering import CALIBRATED, HELD_OUT, TRAINED, Given, Sample, Wanted, gathered
from corpus_assets.classifiers.model import NEGATIVE, POSITIVE, Head, decoded, encoded, opened_body, raw_scores
from resources.documents.fasttext_models import trained_model
from resources.errors import ConfigError
from resources.outside_files import OutsideFile, require_digest
from resources.stage.task import Task

SUFFIX = ".classifier"
FIGURES = "figures"
CLASSES = (POSITIVE, NEGATIVE)
FASTTEXT_RATE = 0.1
_LARGEST = 8 << 30
_FEWEST_USES = 2
Options = Mapping[str, Any]


def train(task: Task, name: str, labelled: str) -> None:
    """Trains, calibrates and measures a classifier; `ConfigError` if a class has too few examples."""
    options = {key.rpartition(".")[2]: value for key, value in task.parameters.items()}
    wanted = Wanted(
        name,
        CLASSES,
        *(options[key] for key in ("least", "examples", "seed", "characters", "holdout")),
    )
    documents = {partition.key: partition for partition in task.inputs("normalized_documents")}
    with task.scratch() as scratch:
        sample = gathered(wanted, Given(task.inputs(labelled), documents, _files(task)), scratch)
        body = _trained(sample, options)
        opened = opened_body(options["kind"], body, options["buckets"])
        scores = {part: _scores(sample, part, options, opened) for part in (CALIBRATED, HELD_OUT)}
    calibration = fitted(options["calibration"], *scores[CALIBRATED])
    held, labels = scores[HELD_OUT]
    figures = figures_of(calibration.probabilities(held), labels)
    counts = sample.counts()
    head = Head(
        kind=options["kind"],
        characters=options["characters"],
        ngrams=options["ngrams"],
        buckets=options["buckets"],
        calibration=calibration,
        figures=figures,
        examples=counts,
    )
    _save(task, name, encoded(head, body), head)
    examples = sum(sum(part.values()) for part in counts.values())
    task.count(rows_in=examples + 2 * sample.contradictory, rows_out=examples)
    if sample.contradictory:
        task.drop("in_both_classes", 2 * sample.contradictory)


def _trained(sample: Sample, options: Options) -> bytes:
    texts, labels = sample.of(TRAINED)

    def examples() -> Iterator[tuple[str, bool]]:
        return zip(texts(), labels.tolist(), strict=True)

    if options["kind"] == "linear":
        counts = (int((~labels).sum()), int(labels.sum()))
        shape = linear.Shape(*(options[key] for key in ("ngrams", "buckets", "epochs", "learning_rate")))
        return linear.trained(examples, counts, shape)
    return trained_model(
        ((POSITIVE if label else NEGATIVE, text) for text, label in examples()),
        lr=options["learning_rate"],
        dim=options["dimension"],
        epoch=options["epochs"],
        wordNgrams=options["ngrams"],
        bucket=options["buckets"],
        minCount=_FEWEST_USES,
        seed=options["seed"] % (1 << 31),
    )


def _scores(sample: Sample, part: int, options: Options, opened: Any) -> tuple[Any, Any]:
    texts, labels = sample.of(part)
    return raw_scores(options["kind"], opened, texts(), options["ngrams"]), labels


def _files(task: Task) -> list[ExampleFile]:
    """Returns the files of examples; `CorpusError` if one changed since the plan."""
    found = []
    for given in task.run_options["files"]:
        require_digest(given["place"], [given["path"]], task.parameters[given["digest"]])
        found.append(ExampleFile(OutsideFile(given["path"]), given["label"], [given["condition"]]))
    return found


def imported(task: Task, name: str) -> None:
    """Copies an exported classifier; `BadFileError` if the file is none."""
    given = task.run_options["model"]
    require_digest(given["place"], [given["path"]], task.parameters[given["digest"]])
    file = OutsideFile(given["path"])
    content = file.read(_LARGEST)
    _save(task, name, content, decoded(file.name, content).head)
    task.count(rows_in=0, rows_out=0)


def frozen(_: Task, name: str) -> None:
    """Raises `ConfigError`: a frozen classifier is used as it is, and this one is not there."""
    raise ConfigError(
        f"classifiers: {name} is `frozen`, but there is no trained one in the store; build once without `frozen`, or "
        "give an exported one as `model`"
    )


def _save(task: Task, name: str, content: bytes, head: Head) -> None:
    shown: dict[str, Any] = msgspec.to_builtins(head)
    shown = {key: shown[key] for key in ("kind", "examples", "figures")}
    task.save_json(f"classifiers/{name}.json", {**shown, "calibration": head.calibration.kind}, rows=1)
    task.save_bytes(f"classifiers/{name}{SUFFIX}", content)
    task.save_counters(FIGURES, shown)
    figures = head.figures
    task.count(precision=figures.precision, recall=figures.recall, auc=figures.auc, calibration_error=figures.ece)
