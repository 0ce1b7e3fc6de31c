"""All modes: add one by its section in `config/datasets/modes.py`, its module here, and its line in `MODES`."""

from typing import Any

from corpus_assets.config.datasets.modes import DatasetSection
from corpus_assets.tokenize.modes.chat.chat import CHAT, CHAT_VSL
from corpus_assets.tokenize.modes.dpo import DPO
from corpus_assets.tokenize.modes.fim import FIM
from corpus_assets.tokenize.modes.lm import LM
from corpus_assets.tokenize.modes.lm_vsl import LM_VSL
from corpus_assets.tokenize.modes.mode import Mode
from corpus_assets.tokenize.modes.summarization import SUMMARIZATION, SUMMARIZATION_VSL

AnyMode = Mode[Any, Any]

MODES: tuple[AnyMode, ...] = (
    LM,
    LM_VSL,
    FIM,
    SUMMARIZATION,
    SUMMARIZATION_VSL,
    CHAT,
    CHAT_VSL,
    DPO,
)


def mode_of(section: DatasetSection) -> AnyMode:
    """Returns the mode that makes the rows of a dataset."""
    (found,) = (mode for mode in MODES if mode.makes(section))
    return found
