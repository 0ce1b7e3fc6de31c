"""The drop reasons of an asset: those that its stage declares, and further ones in records."""

from collections.abc import Iterable

from resources.ledger.ledger import Record
from resources.stage.declaration import Stage, reasons_of
from resources.stage.hooks import Values


def drop_reasons(stage: Stage, settings: Values, records: Iterable[Record]) -> list[str]:
    """Returns every reason for which a stage may drop rows, sorted, also where it never did.

    A plot of what each partition dropped then has no gaps. records: of the asset; a reason that the stage of a user's
    own does not declare is known from the first record that counts it.
    """
    counted = {reason for record in records for reason in record.statistics.get("dropped", {})}
    return sorted(counted.union(reasons_of(stage, settings)))
