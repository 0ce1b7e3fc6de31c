"""The files with token rows of a dataset, by name; one is found by its name among those that records name."""

from dataclasses import dataclass

from corpus_assets import dataset_names as names
from corpus_assets.config.datasets.exports import is_export
from corpus_assets.config.datasets.text_exports import is_text
from corpus_assets.export.format import places_of
from corpus_assets.tracing.from_tokens.offsets import ids_by_file
from corpus_assets.viewer.opened import View
from corpus_assets.viewer.query import missing
from corpus_assets.viewer.site import short
from resources.errors import NotBuiltError
from resources.formats.hdf5.reader import HDF5
from resources.ledger.records import ALL, Record
from resources.stage.graph import did_you_mean


@dataclass(frozen=True)
class TokenFile:
    """A file of a dataset. name: by which it is asked for; rows: how many it has; ids: of all rows; None in HDF5."""

    name: str
    path: str
    rows: int
    ids: int | None
    record: Record


def files_of(view: View, dataset: str) -> list[TokenFile]:
    """Returns the files of a dataset that have rows; `RefusedError` if there is no such dataset."""
    entries = {entry["name"]: entry for entry in view.corpus.settings.values["datasets"]}
    if dataset not in entries:
        raise missing(f"There is no dataset {short(dataset, 100)!r}{did_you_mean(dataset[:100], list(entries))}.")
    if is_text(entries[dataset]):
        raise missing(f"The dataset {dataset!r} holds texts, not tokens: see the asset {names.texts(dataset)!r}.")
    exported = is_export(entries[dataset])
    return view.looks.get(f"files of {dataset}", lambda: _files(view, dataset, exported=exported))


def _files(view: View, dataset: str, *, exported: bool) -> list[TokenFile]:
    found = []
    for record in view.records(names.tokens(dataset)).values():
        rows: dict[str, int] = {}
        ids: dict[str, int] = {}
        if exported:
            ids = ids_by_file(view.handle(record))
            for place in places_of(view.handle(record)):
                rows[place.path] = max(rows.get(place.path, 0), place.unit + place.units)
        else:
            rows = {file.path: file.rows or 0 for file in record.files if file.path.endswith(HDF5.suffix)}
        found += [TokenFile(_name(path), path, count, ids.get(path), record) for path, count in rows.items() if count]
    return sorted(found, key=lambda one: one.name)


def _name(path: str) -> str:
    """Returns a path below the folder of its dataset."""
    return "/".join(path.split("/")[2:]) or path


def file_of(files: list[TokenFile], dataset: str, wanted: str) -> TokenFile:
    """Returns the file of a name, by default the first; `RefusedError` if there is none."""
    if not files:
        raise NotBuiltError(names.tokens(dataset), ALL, f"{dataset} has no token rows: it is not built.")
    found = files[0] if not wanted else next((one for one in files if wanted in {one.name, one.path}), None)
    if found is None:
        known = [one.name for one in files]
        raise missing(f"{dataset} has no file {short(wanted, 100)!r}{did_you_mean(wanted[:100], known)}.")
    return found
