"""The shards in a DAGSTER_HOME that knows none: Dagster refuses to materialize a partition that it does not know."""

import os

import dagster as dg

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.orchestration.home.folder import HOME_VARIABLE
from partitions.shards import any_shard_registered, register_recorded_shards, register_shards
from resources.errors import CorpusError


def introduce_shards(corpus: Corpus) -> None:
    """Registers the shards of a corpus in `$DAGSTER_HOME`, if it is set and knows none of them.

    They are the raw files; where those cannot be listed, the shards that have records in the store. A fault is a
    warning: what loads the code location may have no use for the shards, and no right to write there.
    """
    if not os.environ.get(HOME_VARIABLE):
        return
    try:
        with dg.DagsterInstance.get() as instance:
            if not any_shard_registered(corpus.graph, instance):
                _register(corpus, instance)
    except Exception as error:  # Dagster's own, the database's, or the system's.
        dg.get_dagster_logger("corpus").warning(
            f"the shards could not be registered in the DAGSTER_HOME: {error}; `corpus build` registers them, and so "
            "does materializing `inventory`"
        )


def _register(corpus: Corpus, instance: dg.DagsterInstance) -> None:
    try:
        planner = corpus.planner()
    except CorpusError:
        register_recorded_shards(corpus.graph, corpus.ledger, instance)
    else:
        register_shards(planner, instance)
