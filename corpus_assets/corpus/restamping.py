"""Raw files that were rewritten with the same content: their records get the new modification time."""

from collections.abc import Iterable
from contextlib import suppress

from resources.errors import LeaseLostError
from resources.planning.planner import Decision, Planner
from resources.storage.holders import Process


def restamp(planner: Planner, decisions: Iterable[Decision], builder: Process) -> None:
    """Writes the new modification times for decisions on rewritten raw files; ignores all others."""
    for decision in decisions:
        if decision.rewritten:
            _restamp(planner, decision, builder)


def _restamp(planner: Planner, decision: Decision, builder: Process) -> None:
    ledger, shard = planner.ledger, planner.shard(decision.partition)
    if shard is None:
        return
    # This only saves time: the next plan digests the file again.
    with suppress(OSError, LeaseLostError), ledger.leased(decision.asset, decision.partition, builder) as unchanged:
        if unchanged:
            record = planner.records(decision.asset)[decision.partition].with_seen(shard.seen())
            ledger.committed(record, ledger.replace(record, unchanged.version))
