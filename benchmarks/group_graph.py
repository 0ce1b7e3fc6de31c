"""Draws `docs/groups.png`: the groups of the sample corpus, as Dagster's web UI lays them out (needs chromium)."""

import shutil
import tempfile
from base64 import b64decode
from collections.abc import Collection
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from benchmarks.ui_server import serving
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.raw.sample.writing import write_sample
from tests.viewer.browser import Browser, chromium

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "groups.png"
WIDTH = 1500
"""Pixels of the picture: names can be read, and it has less than 200 kB."""

_MARGIN, _FRAMES = 40, 5000
_DRAWN = """
async (wanted, margin, frames) => {
    let boxes = [];
    for (let frame = 0; frame < frames; frame++) {
        const svg = document.querySelector('[class*=AssetGraphExplorer_svgContainer]');
        boxes = svg ? [...svg.querySelectorAll('foreignObject.group')] : [];
        const arrows = svg ? [...svg.querySelectorAll('path[marker-end]')] : [];
        if (boxes.length === wanted && arrows.length) {
            svg.style.setProperty('--color-lineage-edge', '#8890a0');
            svg.style.margin = `${margin}px`;
            document.body.replaceChildren(svg.cloneNode(true));
            return {
                size: [svg.width.baseVal.value, svg.height.baseVal.value],
                boxes: boxes.map(box => [box.textContent, box.x.baseVal.value]),
                arrows: arrows.map(path => path.getAttribute('d')),
            };
        }
        await new Promise(resume => requestAnimationFrame(resume));
    }
    throw Error(`${boxes.length} of ${wanted} groups are drawn`);
}
"""


class Drawn(NamedTuple):
    """What the web UI drew. In its units: width and height, left end of each group's box, ends of each arrow."""

    size: tuple[float, float]
    boxes: dict[str, float]
    arrows: list[tuple[float, float]]


def draw(browser: Browser, address: str, groups: Collection[str]) -> Drawn:
    """Opens the lineage of all assets, with its groups folded, and leaves nothing but the graph on the page."""
    browser.open(f"{address}/asset-groups")
    found = browser.evaluate(f"({_DRAWN})({len(groups)}, {_MARGIN}, {_FRAMES})")
    width, height = found["size"]
    curves = [path.removeprefix("M").replace("C", ",").split(",") for path in found["arrows"]]
    boxes = {_group(shown, groups): left for shown, left in found["boxes"]}
    return Drawn((width, height), boxes, [(float(curve[0]), float(curve[-2])) for curve in curves])


def _group(shown: str, groups: Collection[str]) -> str:
    """Returns the group whose name is shown; a long one has dots in its middle."""
    if shown in groups:
        return shown
    head, tail = shown.split("…")
    (group,) = (one for one in groups if one.startswith(head) and one.endswith(tail))
    return group


def main() -> None:
    """Draws the picture, and prints the groups from left to right."""
    with ExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory()))
        for name in ("corpus.yaml", "dagster.yaml"):
            shutil.copy(ROOT / name, folder)
        write_sample(folder / "data" / "raw", megabytes=1)
        groups = Corpus.open(folder / "corpus.yaml", read_only=True).graph.groups()
        server, browser = held.enter_context(serving(folder)), held.enter_context(chromium(folder / "profile"))
        drawn = draw(browser, server.url, groups)
        width, height = (side + 2 * _MARGIN for side in drawn.size)
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": WIDTH / width}
        shown = browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
    PICTURE.write_bytes(b64decode(shown["data"]))
    print(", ".join(sorted(drawn.boxes, key=lambda group: (drawn.boxes[group], groups.index(group)))))


if __name__ == "__main__":
    main()
