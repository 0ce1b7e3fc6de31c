"""The job and the nightly schedule that read a part of the store again: `corpus verify --budget`."""

import dagster as dg

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.orchestration.instance.instance import claim_run
from corpus_assets.verification.rounds import Round, seconds_of
from corpus_assets.verification.verify import Verification, verify
from resources.errors import ConfigError
from resources.ledger.ledger import partition_name

NAME = "verify_corpus"
_MAX_LISTED = 20


def verify_job(corpus: Corpus) -> dg.JobDefinition:
    """Returns one round of verification as a job, which fails if a file is damaged, missing or unreadable."""
    budget = dg.Field(str, default_value="10m", description="How long content is read: 90s, 10m, 2h.")

    @dg.op(name="verify_a_round", config_schema={"budget": budget})
    def verify_op(context: dg.OpExecutionContext) -> None:
        claim_run(context.instance, context.run)
        part = Round(corpus.storage, _seconds(context.op_config["budget"]))
        result = verify(corpus, deep=True, part=part)
        context.log.info(f"{result.read:,} of {result.read + result.left:,} partitions read whole in this round")
        if part.not_kept:
            context.log.warning(f"what was read is not noted, so the next round reads it again: {part.not_kept}")
        if faults := in_words(result):
            raise dg.Failure(faults, allow_retries=False)

    @dg.job(
        name=NAME,
        description="Reads stored partitions whole, those first that were read least lately, and compares them with "
        "their records; the same as `corpus verify --budget`. It changes nothing but the notes of what was read when.",
        executor_def=dg.in_process_executor,
    )
    def job() -> None:
        verify_op()

    return job


def _seconds(budget: str) -> float:
    try:
        return seconds_of(budget)
    except ConfigError as error:
        raise dg.Failure(str(error), allow_retries=False) from None


def in_words(result: Verification) -> str:
    """Returns what is bad or could not be read, and the command that mends it; empty if all is well."""
    problems = [*result.bad, *result.unread]
    lines = [f"{partition_name(one.asset, one.partition)}: {one.file}: {one.problem}" for one in problems]
    if len(lines) > _MAX_LISTED:
        lines[_MAX_LISTED:] = [f"and {len(lines) - _MAX_LISTED:,} more"]
    if result.bad:
        lines.append("`corpus verify --deep --mend` removes the records of what is bad; the next build makes it again")
    return "\n".join(lines)


def verify_schedule(job: dg.JobDefinition) -> dg.ScheduleDefinition:
    """Returns the schedule that reads a part of the store every night at five; it is off until switched on."""
    return dg.ScheduleDefinition(
        name="nightly_verification",
        job=job,
        cron_schedule="0 5 * * *",
        description="Every night at five: reads partitions whole for ten minutes, least lately read ones first.",
    )
