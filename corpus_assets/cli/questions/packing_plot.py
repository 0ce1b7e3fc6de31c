"""The table of `corpus packing` as a plot: a panel for each number, a bar for each method."""

import io
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from resources.errors import ConfigError
from resources.system_errors import raise_machine_error

FORMATS = (".svg", ".png")
_PANELS = {
    "fill": "fill (%)",
    "sequences_per_row": "sequences per row",
    "truncated_tokens": "truncated tokens",
    "padded_tokens": "padded tokens",
}
_WIDTH, _PANEL_HEIGHT, _BAR_HEIGHT = 14.0, 1.4, 0.34  # inches


def require_drawable(file: Path) -> None:
    """Raises ConfigError if a plot cannot be drawn into a file of that name, or at all."""
    if file.suffix not in FORMATS:
        raise ConfigError(f"--plot {file}: valid: a name that ends in {' or '.join(FORMATS)}")
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise ConfigError("--plot needs matplotlib: pip install 'corpus-assets[plots]'") from None


def drawn(rows: Sequence[Mapping[str, Any]], names: Sequence[str], title: str, suffix: str) -> bytes:
    """Returns the plot of a table of methods as SVG or PNG; equal tables give equal bytes with one matplotlib.

    rows: as `methods.row_of` makes them; those that were left out have no bar. names: of the methods, for people.
    """
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"svg.hashsalt": "corpus packing", "svg.fonttype": "none"}):
        figure = Figure(figsize=(_WIDTH, _PANEL_HEIGHT + _BAR_HEIGHT * len(rows)), layout="constrained")
        figure.suptitle(title)
        panels = figure.subplots(1, len(_PANELS), sharey=True)
        for panel, (key, label) in zip(panels, _PANELS.items(), strict=True):
            _fill_panel(panel, [row.get(key) for row in rows], 100 if key == "fill" else 1)
            panel.set_title(label, fontsize="medium")
        panels[0].set_yticks(range(len(rows)), names)
        panels[0].invert_yaxis()
        content = io.BytesIO()
        figure.savefig(content, format=suffix[1:], metadata={"Date": None} if suffix == ".svg" else None)
    return content.getvalue()


def _fill_panel(panel: Any, values: Sequence[float | None], scale: float) -> None:
    scaled = [(value or 0) * scale for value in values]
    bars = panel.barh(range(len(scaled)), scaled, color="#4878a8")
    words = [
        "left out" if value is None else f"{value * scale:,.5g}" if scale > 1 else f"{value:,}" for value in values
    ]
    panel.bar_label(bars, words, padding=3, fontsize="small")
    panel.margins(x=0.35)
    panel.locator_params(axis="x", nbins=4)
    panel.xaxis.set_major_formatter("{x:,.5g}")
    panel.spines[["top", "right"]].set_visible(False)


def save(file: Path, content: bytes) -> None:
    """Writes a file, whole or not at all. ConfigError if that cannot be done."""
    try:
        with tempfile.TemporaryDirectory(dir=file.parent, prefix=".plot-") as folder:
            written = Path(folder) / file.name
            written.write_bytes(content)
            written.replace(file)
    except OSError as error:
        raise_machine_error(error, "writing", file)
        raise ConfigError(f"--plot {file}: {error.strerror}") from None
