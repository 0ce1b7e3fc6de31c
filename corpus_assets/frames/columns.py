"""A frame made of rows: its columns have the same names and types with no row as with many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pandas import DataFrame, Series

Columns = Mapping[str, str | Sequence[str]]
"""Each column's type as pandas names it; a list is a category of these values."""

TEXT, COUNT, NUMBER, TIME = "string", "Int64", "Float64", "datetime64[ns, UTC]"


def frame(columns: Columns, rows: Iterable[Sequence[Any]]) -> DataFrame:
    """Returns a frame. rows: values in the order of the columns; None where there is no value."""
    import pandas as pd

    held = list(zip(*rows, strict=True)) or [()] * len(columns)
    typed = zip(columns.items(), held, strict=True)
    return pd.DataFrame({name: _column(values, kind) for (name, kind), values in typed})


def _column(values: Sequence[Any], kind: str | Sequence[str]) -> Series[Any]:
    import pandas as pd

    if isinstance(kind, str):
        return pd.Series(values, dtype=kind)
    # A record may name a source that corpus.yaml no longer has: pandas would take its name for no value.
    unknown = sorted(set(values) - {None, *kind})
    return pd.Series(pd.Categorical(values, [*kind, *unknown]))
