"""Hooks of the stages of deduplication: derived parameters, gate and notes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isinf

from typing_extensions import override

from corpus_assets.dedup import compiled
from corpus_assets.dedup.clusters.worst import MIN_JUDGED, broken_floors
from corpus_assets.dedup.documents.repeated_ids import REPEATED_IDS
from corpus_assets.dedup.shared import (
    FEATURELESS,
    KEPT_THRESHOLD,
    LEFT_OUT,
    LOSSES,
    NEIGHBOURS,
    ORDER,
    PAIR_THRESHOLD,
    SKETCHED,
    SURE,
)
from corpus_assets.dedup.signatures.scheme import CLEANING
from corpus_assets.dedup.similarity.check import surely_above
from resources.documents.template_notes import of_templates
from resources.stage.hooks import Hooks, Values
from resources.stage.partition import Partition


class MinhashesHooks(Hooks):
    """Hooks of signatures: those of differently cleaned texts must not be compared."""

    @override
    def derived_parameters(self, settings: Values) -> Values:
        return {"cleaning": CLEANING}

    @override
    def kernels(self, settings: Values) -> Sequence[str]:
        return compiled.of_minhashes(settings)


@dataclass(frozen=True)
class BandKeysHooks(Hooks):
    """Hooks of band keys.

    left_out: attributes that the mix leaves out, besides those of deduplication itself. Documents without a shingle may
    pair in the reference, but a check would have nothing to compare.
    """

    left_out: tuple[str, ...] = ()

    @override
    def derived_parameters(self, settings: Values) -> Values:
        dedup = settings["dedup"]
        pair = {FEATURELESS: dedup["short_documents"] == "include" and dedup["verify"] == "none"}
        return {**pair, LEFT_OUT: list(self.left_out)} if self.left_out else pair


class OrderedHooks(Hooks):
    """Hooks of a stage that depends on the order of sources, and so on the first document of a cluster."""

    @override
    def derived_parameters(self, settings: Values) -> Values:
        return {ORDER: [source["name"] for source in settings["sources"]]}


class PairsHooks(OrderedHooks):
    """Hooks of the pairs of a band.

    If pairs are checked, neighbours in a bucket are paired too, because the first document of a bucket may turn out
    unlike a later one.
    """

    @override
    def derived_parameters(self, settings: Values) -> Values:
        return {**super().derived_parameters(settings), NEIGHBOURS: settings["dedup"]["verify"] != "none"}


class CandidatesHooks(Hooks):
    """Hooks of candidate pairs, which include a sketch if they are checked."""

    @override
    def derived_parameters(self, settings: Values) -> Values:
        return {SKETCHED: settings["dedup"]["verify"] != "none"}


class VerifiedHooks(CandidatesHooks):
    """Hooks of verified pairs."""

    @override
    def derived_parameters(self, settings: Values) -> Values:
        by_texts = settings["dedup"]["verify"] == "two_sided" and _sketches_cannot_say(settings)
        return {**super().derived_parameters(settings), **({SURE: False} if by_texts else {})}

    @override
    def kernels(self, settings: Values) -> Sequence[str]:
        return compiled.of_verified_pairs(settings)


class GuardedHooks(OrderedHooks):
    """Hooks of clusters that are guarded: the guard may use the threshold of pairs."""

    @override
    def derived_parameters(self, settings: Values) -> Values:
        dedup, order = settings["dedup"], super().derived_parameters(settings)
        if dedup["guard"]["action"] == "split" and dedup["verify"] in ("two_sided", "exact"):
            order = {**order, KEPT_THRESHOLD: max(dedup["threshold"], dedup["guard"]["resemblance"] or 0.0)}
        if dedup["guard"]["resemblance"] is not None:
            return order
        by_texts = {SURE: False} if _sketches_cannot_say(settings) else {}
        return {**order, PAIR_THRESHOLD: dedup["threshold"], **by_texts}


class ComponentsHooks(GuardedHooks):
    """Hooks of all clusters: no source may lose too much. The guard is theirs if it is not of ranges."""

    @override
    def derived_parameters(self, settings: Values) -> Values:
        return (OrderedHooks if settings["dedup"]["rule"] == "similar" else GuardedHooks)().derived_parameters(settings)

    @override
    def kernels(self, settings: Values) -> Sequence[str]:
        return compiled.of_components(settings)

    @override
    def gate(self, counters: Values, settings: Values) -> Sequence[str]:
        return retention(counters, settings)

    @override
    def notes(self, partitions: Sequence[Partition], settings: Values) -> Iterator[str]:
        """Yields the sources that lose more than allowed but have too few documents to stop a build.

        Also those that lose mainly to a template, and those of which several files have the same ids.
        """
        dedup = settings["dedup"]
        allowed = dedup["max_loss"]
        for partition in partitions:
            for source, loss in partition.counters(LOSSES)["sources"].items():
                if loss["documents"] < MIN_JUDGED and loss["removed"] > allowed * loss["documents"]:
                    removed, documents = f"{loss['removed']:,}", f"{loss['documents']:,}"
                    yield f"source {source}: {removed} of {documents} documents are duplicates of others"
            yield from of_templates(partition.record.statistics, dedup["template_share"])
            for source, ids in partition.record.statistics.get(REPEATED_IDS, {}).items():
                repeated, documents = f"{ids['repeated']:,}", f"{ids['documents']:,}"
                said = f"{repeated} of {documents} documents have an id that an earlier of its files has"
                yield f"source {source}: {said}"


class ContainedClustersHooks(ComponentsHooks):
    """Hooks of clusters of documents that others hold: no similarity is looked at, and no guard needed."""

    @override
    def derived_parameters(self, settings: Values) -> Values:
        return OrderedHooks().derived_parameters(settings)


def _sketches_cannot_say(settings: Values) -> bool:
    return isinf(surely_above(settings["dedup"]["threshold"], settings["minhash"]["sketch"]))


def retention(counters: Values, settings: Values) -> list[str]:
    """Returns the sources that lose more than `dedup.max_loss` allows, and how many clusters could not be examined."""
    losses = counters[LOSSES]
    faults = broken_floors(losses["sources"], settings["dedup"]["max_loss"])
    if count := losses["unexamined_clusters"]:
        faults.append(
            f"{count:,} clusters hold documents unlike the one that is kept and have more than "
            f"dedup.guard.max_examined ({settings['dedup']['guard']['max_examined']:,}) documents"
        )
    return faults
