"""The guard as it is configured: its rules, and how kept documents of a split cluster are compared."""

from corpus_assets.dedup.clusters.guard import GuardRules
from corpus_assets.dedup.clusters.leaders import Comparison
from corpus_assets.dedup.documents.columns import Column
from corpus_assets.dedup.documents.numbering import Numbering
from corpus_assets.dedup.shared import KEPT_THRESHOLD, PAIR_THRESHOLD, texts_of
from corpus_assets.dedup.signatures.scheme import Sketched
from corpus_assets.dedup.similarity.check import surely_above
from corpus_assets.dedup.templates.reading import templates_of
from resources.stage.task import Task


def comparison_of(task: Task, numbering: Numbering, sketches: Column, sketched: Sketched) -> Comparison | None:
    """Returns how kept documents of a split cluster are compared; None if pairs are not checked by texts either."""
    if KEPT_THRESHOLD not in task.parameters:
        return None
    return Comparison(
        total=numbering.total,
        bits=sketched.bits,
        sketches=sketches,
        texts=lambda bitmap: texts_of(task.inputs("normalized_documents"), numbering, bitmap),
        scheme=sketched.scheme,
        threshold=task[KEPT_THRESHOLD],
        memory=task.memory,
        spill=task.scratch,
        template=templates_of(task, numbering),
    )


def rules_of(task: Task, bits: int) -> GuardRules:
    """Returns the rules of the guard; by default they use the threshold of pairs."""
    action, max_cluster, resemblance, max_examined = (
        task[f"dedup.guard.{name}"] for name in ("action", "max_cluster", "resemblance", "max_examined")
    )
    if resemblance is None:
        resemblance = surely_above(task[PAIR_THRESHOLD], bits)
        return GuardRules(action, max_cluster, resemblance, max_examined, paired=True)
    return GuardRules(action, max_cluster, resemblance, max_examined)
