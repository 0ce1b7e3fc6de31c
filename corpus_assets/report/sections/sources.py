"""Origin and licence of each source, and what of it is in the training data."""

from corpus_assets.report.model import Dataset, Model
from corpus_assets.report.sections.blocks import MOST_ROWS, Block, Section, Table, largest


def sources(model: Model) -> Section:
    """Returns the table of sources with licences and origins."""
    chosen = train_dataset(model)
    tokens = {name: found.get("tokens") for name, found in ((chosen and chosen.by_source) or {}).items()}
    whole = sum(count or 0 for count in tokens.values())
    shown, others = largest(model.sources, lambda source: source.raw_bytes, MOST_ROWS)
    rows = []
    for source in shown:
        own = _own_dataset(model, source.dataset)
        ours = own.tokens if own else tokens.get(source.name)
        share = None if own or not whole or ours is None else ours / whole
        licence = source.licence or "not given"
        rows.append([source.name, licence, source.location, source.files, source.raw_bytes, ours, share])
    title = f"tokens ({chosen.name})" if chosen and tokens else "tokens"
    columns = [("source", "text"), ("licence", "long"), ("origin", "long"), ("files", "count"), ("raw files", "size")]
    table = Table(
        "Sources and files of datasets of their own, with licence and origin as corpus.yaml gives them",
        [*columns, (title, "count"), ("share of tokens", "share")],
        rows,
        left_out=len(others),
    )
    blocks: list[Block] = [table]
    return Section("sources", "Sources, licences and origins", blocks)


def train_dataset(model: Model) -> Dataset | None:
    """Returns the first dataset of the train split, of those that tell sources apart if any does; None without one."""
    found = [one for one in model.datasets if one.input in ("decontaminated_train", "train")]
    counted = [one for one in found if any("tokens" in numbers for numbers in (one.by_source or {}).values())]
    return next(iter([*counted, *found]), None)


def _own_dataset(model: Model, name: str | None) -> Dataset | None:
    return next((dataset for dataset in model.datasets if dataset.name == name), None)
