"""The card of the corpus as it is written, and what a person still has to write in it."""

from corpus_assets.card.assets import NAME
from corpus_assets.viewer.reading import MOST_JSON
from corpus_assets.viewer.site import Asked, page, seen, short
from resources.errors import NotBuiltError

BLANKS, CARD = "to-be-written.json", "README.md"
MOST_BLANKS = 500


def card(asked: Asked) -> str:
    """Shows the blanks of the papers, and the dataset card."""
    view = asked.view
    if NAME not in view.corpus.graph.stages:
        return page(asked, "card.html", "Card", there=False, blanks=[], text="", files=[])
    made = view.partition(NAME, None)
    if made is None:
        raise NotBuiltError(NAME, None, f"{NAME} is not built")
    with view.corpus.storage.open(made.file(CARD).path) as stored:
        text = stored.read(MOST_JSON).decode("utf-8", "replace")
    blanks = [(short(key, 200), short(str(what), 500)) for key, what in list(made.json(BLANKS).items())[:MOST_BLANKS]]
    files = [file.path for file in made.record.files]
    return page(asked, "card.html", "Card", there=True, blanks=blanks, text=seen(text), files=files)
