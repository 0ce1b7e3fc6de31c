"""Writes decisions.json: what datatrove's filters say of the texts (python -m tests.attributes.presets.write)."""

import json
from pathlib import Path

from benchmarks.peers.datatrove_filters import decisions, filters
from tests.attributes.presets.texts import texts

KEPT = Path(__file__).with_name("decisions.json")


def main() -> None:
    """Writes the file."""
    kept = {preset: decisions(preset, original, texts()) for preset, original in filters().items()}
    KEPT.write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
