"""The code location: assets, checks, jobs, schedule, sensor and resources of a corpus; holds no logic."""

import dagster as dg

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.orchestration.assembly import assemble
from corpus_assets.orchestration.backfill import build_backfill
from corpus_assets.orchestration.instance.new_home import introduce_shards
from corpus_assets.orchestration.jobs import build_job, corpus_schedule, group_jobs
from corpus_assets.orchestration.sensor import corpus_sensor
from corpus_assets.orchestration.verifying import verify_job, verify_schedule
from resources.processes.collector import calm_collector


def definitions(corpus: Corpus) -> dg.Definitions:
    """Returns everything that the web UI and `dagster asset materialize` see."""
    assembly = assemble(corpus, build_backfill)
    whole = build_job(corpus)
    round_of_verification = verify_job(corpus)
    return dg.Definitions(
        assets=assembly.assets,
        asset_checks=assembly.checks,
        jobs=[whole, *group_jobs(corpus), round_of_verification],
        schedules=[corpus_schedule(whole), verify_schedule(round_of_verification)],
        sensors=[corpus_sensor(corpus, whole)],
        resources=assembly.resources,
        executor=dg.in_process_executor,
    )


@dg.definitions
def defs() -> dg.Definitions:
    """Returns the code location: the corpus of `$CORPUS_CONFIG`, by default `corpus.yaml` in the working folder.

    A DAGSTER_HOME without shards of the corpus gets all of them, so that single partitions can be materialized at once.
    """
    calm_collector()  # Else it examines all modules of Dagster again and again, for a third of the time of this.
    corpus = Corpus.open()
    introduce_shards(corpus)
    return definitions(corpus)
