"""Command lines of LLM360's amber-data-prep as datasets (docs/formats/trainers.md "Amber")."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from corpus_assets.importer.draft import Draft, usable_name
from corpus_assets.importer.finishing import finished
from corpus_assets.importer.given import Given, switch, text, whole
from corpus_assets.importer.places import located, tokenizer_of
from corpus_assets.importer.shell.calls import calls
from corpus_assets.importer.shell.options import Options

CONVERT, MIX, VALIDATE = "convert_dataset_hf_refinedpajama_json", "mix_and_split", "validate_json"
PROGRAMS = {CONVERT: Options(switches=("no_wrap",)), MIX: Options(), VALIDATE: Options()}
_STARCODER = "starcoderdata"
SUBSETS = (
    *(f"redpajama_v1/{name}" for name in ("arxiv", "book", "c4", "github", "stackexchange", "wikipedia")),
    "falcon-refinedweb/data",
    _STARCODER,
)
"""Folders that the program converts, whatever its options say."""
LEFT = {
    "out_root": "datasets lie in the store, under storage.root",
    "output_root": "datasets lie in the store, under storage.root",
}
NO_PARAMETER = "no parameter of this program that is known here"


def import_amber(files: Sequence[Path], folder: Path) -> Draft:
    """Returns a dataset of windows for each subset, and one for each mix of them.

    files: shell scripts or pages with the command lines. folder: the folder of the new corpus.yaml. `ConfigError` if no
    line converts anything.
    """
    draft = Draft({"sources": [], "datasets": []})
    made: dict[str, dict[str, Any]] = {}
    mixes: list[Given] = []
    for program, given in calls(draft, files, PROGRAMS, "amber-data-prep"):
        if program == CONVERT:
            made |= _converted(draft, given, folder)
        elif program == MIX:
            mixes.append(given)  # A page may show it before its subsets.
        else:
            draft.leave(given.where.strip(), "`corpus check-windows` checks files of windows; builds check themselves")
    for given in mixes:
        _mixed(draft, given, made)
    return finished(draft, str(files[0]))


def _converted(draft: Draft, given: Given, folder: Path) -> dict[str, dict[str, Any]]:
    """Adds a dataset for each subset, and returns them by subset."""
    root = given.path("input_root", "datasets[].input.location")
    options = _windows(draft, given, folder)
    if workers := given.take("num_workers", "engine.workers", whole):
        draft.values["engine"] = {"workers": max(workers, draft.values.get("engine", {}).get("workers", 0))}
    given.leave_all(LEFT)
    given.finish(NO_PARAMETER)
    found = {}
    for subset in _subsets(draft, root or "."):
        key = "content" if "refinedweb" in subset or _STARCODER in subset else "text"
        place = located(str(PurePosixPath(root or ".", subset)), folder)
        found[subset] = {
            **{"name": draft.free_name("datasets", usable_name(_short(subset), "subset"))},
            **{"format": "amber", "compat": "amber", "chunks": 1, "source": re.sub(r"[^\w./-]", "-", subset)},
            **{"input": {"location": place, "text_key": key}, **options},
        }
        draft.add("datasets", found[subset])
    return found


def _windows(draft: Draft, given: Given, folder: Path) -> dict[str, Any]:
    """Returns the options of windows, and sets the tokenizer."""
    options: dict[str, Any] = {}
    if (window := given.take("concat_tokens", "datasets[].window", whole)) is not None:
        options["window"] = window
    for key in ("bos_text", "eos_text"):
        if value := given.take(key, f"datasets[].{key}", text):
            options[key] = value
    if not options.keys() & {"bos_text", "eos_text"}:
        options["separator"] = "none"
    if given.take("no_wrap", "datasets[].wrap", switch):
        options["wrap"] = False
    if section := tokenizer_of(given, "tokenizer", folder):
        if section["kind"] == "tokenizer_json" and "eos_text" in options:
            section["eos"] = options["eos_text"]  # The file alone does not say which token it is.
        # The program reads `</s>` in a text as the control token.
        draft.values["tokenizer"] = {**section, "special_tokens_in_text": True}
    return options


def _subsets(draft: Draft, root: str) -> list[str]:
    """Returns the subsets that the program converts: without those that are not there, if any is there."""
    languages = sorted(path.name for path in Path(root, _STARCODER).glob("*") if path.is_dir())
    named = [subset for subset in SUBSETS if subset != _STARCODER or not languages]
    named += (f"{_STARCODER}/{language}" for language in languages)
    there = [subset for subset in named if Path(root, subset).is_dir()]
    if not there:
        draft.remind(f"subsets are those of the program; take out datasets whose folder is not in {root}")
        return named
    for subset in (one for one in named if one not in there):
        draft.leave(f"subset {subset}", f"there is no such folder in {root}")
    return there


def _short(subset: str) -> str:
    """Returns the name that a subset has in a mix."""
    parts = PurePosixPath(subset).parts
    return "refinedweb" if parts[-2:] == ("falcon-refinedweb", "data") else "-".join(parts[-1:])


def _mixed(draft: Draft, given: Given, made: Mapping[str, Mapping[str, Any]]) -> None:
    """Adds a dataset that mixes the windows of all subsets that the line names."""
    names = given.take("subfolders", "datasets[].input[].source", text) or ""
    counts = {
        ours: count
        for key, ours in (
            *(("num_split", "chunks"), ("num_chunks", "chunks")),
            ("num_valid_samples_per_subfolder", "validation"),
        )
        if (count := given.take(key, f"datasets[].{ours}", whole)) is not None
    }
    given.leave("input_root", "a mix names the datasets that it is made of")
    given.leave_all(LEFT)
    given.finish(NO_PARAMETER)
    sets = _sets(given, [name.strip() for name in names.split(",") if name.strip()], made)
    if not sets:
        draft.leave(given.where.strip(), "import it together with the line that converts its subsets")
        return
    first = next(iter(made.values()))
    windows = {key: first[key] for key in ("window", "bos_text", "eos_text", "separator", "wrap") if key in first}
    name = draft.free_name("datasets", "amber")
    mix = {"name": name, "format": "amber", "compat": "amber", **counts}
    draft.add("datasets", {**mix, "input": sets, **windows})


def _sets(given: Given, names: Sequence[str], made: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Returns the sets of a mix: the subsets whose name or path ends as the line says; `...` stands for all others."""
    found: dict[str, list[str]] = {}
    for name in (one for one in names if one != "..."):
        last = PurePosixPath(name).name if not name.endswith("falcon-refinedweb/data") else "refinedweb"
        matching = [s for s in made if last in (_short(s), PurePosixPath(s).parts[0]) or name.endswith(s)]
        if matching:
            found[last] = [made[subset]["name"] for subset in matching]
        else:
            given.draft.leave(f"{given.where}subfolders: {name}", "no line converts a subset of this name")
    if "..." in names:
        used = {name for listed in found.values() for name in listed}
        for subset, dataset in ((s, d) for s, d in made.items() if d["name"] not in used):
            short = PurePosixPath(subset).parts[0] if subset.startswith(f"{_STARCODER}/") else _short(subset)
            found.setdefault(short, []).append(dataset["name"])
    return [{"source": source, "datasets": datasets} for source, datasets in found.items()]
