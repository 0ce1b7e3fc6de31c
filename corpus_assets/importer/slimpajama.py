"""Command lines of SlimPajama as a corpus.yaml with its profile (docs/formats/slimpajama.md)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from corpus_assets.importer.draft import Draft, usable_name
from corpus_assets.importer.finishing import finished
from corpus_assets.importer.given import Given, text, whole
from corpus_assets.importer.places import located
from corpus_assets.importer.shell.calls import calls
from corpus_assets.importer.shell.options import Options

NORMALIZE, FILTER, HASH, PAIRS = "normalize_text", "filter", "to_hash", "generate_duplicate_pairs"
COMPONENTS, LIST, SHUFFLE, EXACT = (
    *("generate_connected_components", "generate_duplicates_dict", "shuffle_holdout", "dedup_train"),
)
ALL, SPLIT = "main", "split_dataset"
PROGRAMS = {
    NORMALIZE: Options(switches=("zst",), short={"d": "data_dir", "t": "target_dir"}),
    FILTER: Options(("input_dir", "output_file", "n_docs", "dataset_name", "threshold")),
    HASH: Options(("dataset_name", "input_dir", "output_dir", "n_docs", "iter", "index_start", "index_end")),
    PAIRS: Options(),
    COMPONENTS: Options(),
    LIST: Options(),
    SHUFFLE: Options(("stage", "start_index", "end_index", "chunk_id")),
    EXACT: Options(("chunk_id",)),
    ALL: Options(("input_dir",)),
    SPLIT: Options(),
}
_STORE = "it lies in the store, under storage.root"
_WHOLE = "every file of a source is read; the plan knows what is done"
LEFT = {
    **dict.fromkeys(("target_dir", "output_file", "output_dir", "out_file", "input_file", "out_dir"), _STORE),
    **dict.fromkeys(("train_dir", "holdout_dir", "src_dir", "tgt_dir", "duplicates", "short_docs"), _STORE),
    **dict.fromkeys(("idx", "iter", "index_start", "index_end", "start_index", "end_index"), _WHOLE),
    "n_docs": "documents are counted",
    "k": "files have a size of their own",
    "zst": "the first bytes of a file say how it is packed",
    "dataset_name": "sources have the names of their folders",
}
FOLDERS = (
    *("arxiv", "stackexchange", "book", "wikipedia", "github", "c4"),
    *(f"common_crawl/{year}" for year in ("2019-30", "2020-05", "2021-04", "2022-05", "2023-06")),
)
"""Folders below the one that `main.py` is given."""
PERMUTATIONS, CHUNKS, DEFAULT_WIDTH = 128, 20, 6
NO_PARAMETER = "no parameter of this program that is known here"


@dataclass
class _Lines:
    """What all lines say."""

    draft: Draft
    folder: Path
    steps: set[str] = field(default_factory=set)
    chunks: int = 0
    values: dict[str, dict[str, Any]] = field(default_factory=dict)
    inputs: list[str] = field(default_factory=list)
    """Folders that other steps than the first read."""

    def set(self, section: str, key: str, value: Any) -> None:
        """Sets a key, unless there is no value."""
        if value is not None:
            self.values.setdefault(section, {})[key] = value


def import_slimpajama(files: Sequence[Path], folder: Path) -> Draft:
    """Returns a corpus.yaml that does the steps of the lines, with the profile `slimpajama`.

    files: shell scripts or pages with the command lines. folder: the folder of the new corpus.yaml. `ConfigError` if no
    line names a folder of documents.
    """
    draft = Draft({"compat": "slimpajama", "sources": []})
    lines = _Lines(draft, folder)
    for program, given in calls(draft, files, PROGRAMS, "SlimPajama"):
        step = f"{SHUFFLE} {given.values.get('stage')}" if program == SHUFFLE else program
        lines.steps |= {NORMALIZE, FILTER, PAIRS, f"{SHUFFLE} pass2", EXACT} if program == ALL else {step}
        _read(lines, program, given)
        given.leave_all(LEFT)
        given.finish(NO_PARAMETER)
    if not draft.values["sources"]:
        for path in dict.fromkeys(lines.inputs):
            _add_source(lines, path)
    _set_steps(lines)
    draft.values |= lines.values
    draft.values["datasets"] = _datasets(lines) if draft.values["sources"] else []
    return finished(draft, str(files[0]))


def _read(lines: _Lines, program: str, given: Given) -> None:
    if program == NORMALIZE:
        if path := given.path("data_dir", "sources[].location"):
            _add_source(lines, path)
    elif program == ALL:
        _add_all(lines, given)
    elif program == FILTER:
        lines.set("short_documents", "threshold", given.take("threshold", "short_documents.threshold", whole))
        _note_input(lines, given)
    elif program == HASH:
        width = given.take("w", "minhash.width", whole)
        lines.set("minhash", "width", DEFAULT_WIDTH if "w" not in given.values else width)
        _note_input(lines, given)
    elif program == PAIRS:
        _take_bands(lines, given)
    elif program == SHUFFLE:
        given.take("stage", "mix" if given.values.get("stage") == "pass1" else "split", text)
        _count_chunks(lines, given)
    elif program == EXACT:
        _count_chunks(lines, given)
    elif program == SPLIT:
        given.draft.leave(given.where.strip(), "rows name their source; make a corpus of each for files of each")
    if workers := given.take("processes", "engine.workers", whole):
        lines.set("engine", "workers", max(workers, lines.values.get("engine", {}).get("workers", 0)))
    if "input_dir" not in given.named:
        given.leave("input_dir", "the steps before it are those of this corpus.yaml")


def _note_input(lines: _Lines, given: Given) -> None:
    """Keeps the folder of a step for the case that no line normalizes; otherwise it is what that line wrote."""
    if isinstance(path := given.values.get("input_dir"), str):
        lines.inputs.append(path)


def _take_bands(lines: _Lines, given: Given) -> None:
    rows = given.take("range", "minhash.rows", whole)
    bands = given.take("bands", "minhash.bands", whole)
    if (rows or 0) * (bands or 0) > PERMUTATIONS:
        why = f"{bands} bands of {rows} values are more than the {PERMUTATIONS} of a signature"
        for key in ("range", "bands"):
            given.draft.taken.pop(given.where + key)
            given.leave(key, why)
        return
    lines.set("minhash", "rows", rows)
    lines.set("minhash", "bands", bands)


def _count_chunks(lines: _Lines, given: Given) -> None:
    if chunk := given.take("chunk_id", "mix.chunks (the largest of all lines)", whole):
        lines.chunks = max(lines.chunks, chunk)


def _add_all(lines: _Lines, given: Given) -> None:
    """Adds what `main.py` does: sources that are there, or all if none is."""
    root = given.path("input_dir", "sources[].location") or "."
    there = [folder for folder in FOLDERS if Path(root, folder).is_dir()]
    for folder in FOLDERS:
        if not there or folder in there:
            _add_source(lines, str(PurePosixPath(root, folder)))
        else:
            lines.draft.leave(f"{given.where}input_dir: {folder}", "there is no such folder")


def _add_source(lines: _Lines, path: str) -> None:
    """Adds a folder as a source; folders that are named by a number, such as dumps, belong to the one above."""
    place = PurePosixPath(path)
    inside = [] if usable_name(place.name, "") else [place.name]
    place = place.parent if inside else place
    glob = f"{inside[0]}/**/*" if inside else "**/*"
    location = located(str(place), lines.folder)
    known = next((one for one in lines.draft.values["sources"] if one["location"] == location), None)
    if known is None:
        name = lines.draft.free_name("sources", usable_name(place.name, "documents"))
        lines.draft.add("sources", {"name": name, "location": location, **({"glob": [glob]} if inside else {})})
    elif "glob" in known and glob not in known["glob"]:
        known["glob"].append(glob)


def _set_steps(lines: _Lines) -> None:
    """Turns off what no line does."""
    steps, draft = lines.steps, lines.draft
    if NORMALIZE not in steps:
        lines.set("normalize", "method", "none")
        draft.remind(f"no line calls {NORMALIZE}.py, so texts stay unchanged; `normalize.method: ftfy` fixes them")
    dropped = {"short_documents": FILTER, "duplicates": PAIRS}
    for name, program in dropped.items():
        if program not in steps:
            draft.remind(f"no line calls {program}.py, so mix.leave_out is without {name}")
    lines.set("mix", "chunks", lines.chunks or CHUNKS)
    if not {FILTER, PAIRS} <= steps:
        lines.set("mix", "leave_out", [name for name, program in dropped.items() if program in steps])
    if f"{SHUFFLE} pass2" not in steps:
        lines.set("split", "holdout", 0.0)
        draft.remind(f"no line calls {SHUFFLE}.py pass2, so nothing is held out")


def _datasets(lines: _Lines) -> list[dict[str, Any]]:
    """Returns the texts that the last steps write."""
    train = "decontaminated_train" if EXACT in lines.steps else "train"
    found = [{"name": "train", "format": "text", "input": train, "files": "jsonl.zst"}]
    if f"{SHUFFLE} pass2" in lines.steps:
        found.append({"name": "holdout", "format": "text", "input": "holdout", "files": "jsonl.zst"})
    return found
