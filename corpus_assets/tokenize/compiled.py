"""The kernels that write and count the rows of a dataset; a build compiles exactly these ahead."""

from corpus_assets.config.datasets.modes import DatasetSection
from corpus_assets.config.datasets.options import Packed, Turns, Windows
from corpus_assets.tokenize.rows.layouts import Layout

KERNELS = "corpus_assets.tokenize.kernels"
BINS = "corpus_assets.packing.kernels.bins"
PLANES = "resources.formats.kernels.planes"
WRITING = (f"{PLANES}.split_planes",)
READING = (f"{PLANES}.join_planes",)


def of_rows(section: DatasetSection, layout: Layout, backend: str) -> tuple[str, ...]:
    """Returns the kernels that make and count rows of texts. backend: the configured library."""
    unlike = () if backend == "tokenizers" else (f"{KERNELS}.unlike.marked_texts",)
    return (*unlike, *_written(section, layout), *_counted(layout), *WRITING)


def of_masked(section: DatasetSection, backend: str) -> tuple[str, ...]:
    """Returns what makes masked documents. backend: the configured library."""
    pairs = (f"{KERNELS}.pairs.assemble",) if isinstance(section, Turns) else ()
    return pairs if backend == "tokenizers" else (f"{KERNELS}.unlike.marked_texts", *pairs)


def of_gathered(layout: Layout) -> tuple[str, ...]:
    """Returns the kernels that merge and count rows."""
    return (*READING, *_counted(layout), *WRITING)


def _written(section: DatasetSection, layout: Layout) -> tuple[str, ...]:
    pairs = (f"{KERNELS}.pairs.assemble",) if isinstance(section, Turns) else ()
    if isinstance(section, Windows):
        return (f"{KERNELS}.rows.pack" if section.pack else f"{KERNELS}.rows.cut", f"{KERNELS}.rows.pad")
    if isinstance(section, Packed) and layout.packed:
        return (*pairs, *_packed(section), f"{KERNELS}.vsl.fill")
    return pairs if layout.two_sided else (*pairs, f"{KERNELS}.pairs.pad_rows")


def _packed(section: Packed) -> tuple[str, ...]:
    if section.packing == "nearest_previous":
        return (f"{BINS}.nearest_previous",)
    fit = (f"{BINS}.best_fit",) if section.packing == "best_fit" else ()
    return (f"{BINS}.longest_first", *fit, f"{BINS}.in_input_order")


def _counted(layout: Layout) -> tuple[str, ...]:
    check = "preference" if layout.two_sided else "packed" if layout.packed else "rows"
    return (f"{KERNELS}.recount.count_side", f"{KERNELS}.recount.check_{check}")
