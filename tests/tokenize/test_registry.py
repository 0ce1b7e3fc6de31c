"""Every dataset has one mode, found by its section."""

import pytest

from corpus_assets.config.datasets.modes import SECTIONS, dataset_section
from corpus_assets.tokenize.modes.registry import MODES, mode_of
from tests.tokenize import sections

NAMES = {
    "lm": "LMData",
    "lm_vsl": "LMData_VSL",
    "fim": "FIM",
    "summarization": "Summarization",
    "summarization_vsl": "Summarization_VSL",
    "dpo": "DPO",
}


@pytest.mark.parametrize("mode", NAMES)
def test_a_mode_is_called_what_cerebras_calls_it(mode: str) -> None:
    section = dataset_section({"mode": mode})
    assert mode_of(section).cerebras_name == NAMES[mode]
    assert len(mode_of(section).layout.features) == {"dpo": 6}.get(mode, 5 if mode.endswith("_vsl") else 3)
    assert mode_of(section).takes_texts == (mode in ("lm", "lm_vsl", "fim"))


@pytest.mark.parametrize(("pack", "name", "channels"), [(True, "Chat_VSL", 5), (False, "Chat", 3)])
def test_packed_conversations_are_a_mode_of_their_own(pack: bool, name: str, channels: int) -> None:
    mode = mode_of(sections.chat(64, pack=pack))
    assert (mode.cerebras_name, mode.layout.channels, mode.takes_texts) == (name, channels, False)


def test_every_section_has_a_mode_and_names_differ() -> None:
    assert {mode.section for mode in MODES} == set(SECTIONS.values())
    assert len({mode.cerebras_name for mode in MODES}) == len(MODES)
