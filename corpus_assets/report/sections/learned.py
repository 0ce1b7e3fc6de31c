"""What was learned from sources: figures of filters on held-out examples, and the size of language models."""

from msgspec import UNSET

from corpus_assets.report.model import Classifier, LanguageModel, Model
from corpus_assets.report.sections.blocks import Note, Section, Table

_FIGURES = ("precision", "recall", "f1", "auc", "ece", "brier")
_COLUMNS = [("precision", "text"), ("recall", "text"), ("F1", "text"), ("AUC", "text"), ("ECE", "text")]


def classifiers(model: Model) -> Section:
    """Returns the figures of learned filters, and how many examples have which score."""
    found = [] if model.classifiers is UNSET else model.classifiers
    note = (
        "The figures are of held-out examples, which neither training nor calibration used. Precision, recall and F1 "
        "are those of score 0.5. ECE is the mean difference between score and share of positive examples; Brier is the "
        "mean square of the difference between score and label. Scores are probabilities for texts mixed as the "
        "examples are."
    )
    columns = [("classifier", "text"), ("kind", "text"), ("trained on", "count"), ("held out", "count")]
    rows = [
        [one.name, one.kind, _sum(one, "trained"), _sum(one, "held_out"), *(f"{one.figures[k]:.3f}" for k in _FIGURES)]
        for one in found
    ]
    table = Table("Figures of learned filters", [*columns, *_COLUMNS, ("Brier", "text")], rows)
    return Section("classifiers", "Learned filters", [Note(note), table, *map(_reliability, found)])


def language_models(model: Model) -> Section:
    """Returns how many n-grams of each length language models have, and how many were left out."""
    found = [] if model.language_models is UNSET else model.language_models
    columns = [("model", "text"), ("words", "count"), ("trained on tokens", "count"), ("n-grams of words", "text")]
    rows = [row for one in found for row in _lengths(one)]
    table = Table("N-grams of language models", [*columns, ("n-grams", "count"), ("left out", "count")], rows)
    note = "Tokens are words, and an end for each line. `prune` leaves out n-grams that occur seldom."
    return Section("language-models", "Language models", [Note(note), table])


def _lengths(one: LanguageModel) -> list[list[str | int]]:
    return [[one.name, one.words, one.tokens, n, count, one.pruned.get(n, 0)] for n, count in one.ngrams.items()]


def _sum(one: Classifier, part: str) -> int:
    return sum(one.examples[part].values())


def _reliability(one: Classifier) -> Table:
    columns = [("score", "text"), ("examples", "count"), ("mean score", "share"), ("positive", "share")]
    rows = [
        [f"{held['low']:.1f} to {held['high']:.1f}", held["examples"], held["mean"], held["positive"]]
        for held in one.figures["bins"]
    ]
    return Table(f"Scores of {one.name}, and how many of the examples are positive", columns, rows)
