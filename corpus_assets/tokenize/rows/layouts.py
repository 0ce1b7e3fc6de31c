"""Layouts of rows: their channels, and whether every position of a document is learned."""

from dataclasses import dataclass

from resources.formats.hdf5.layout import DPO_FEATURES, LM_FEATURES, VSL_FEATURES


@dataclass(frozen=True)
class Layout:
    """features: names of the channels in order. all_learned: every position before the padding is in the loss."""

    features: tuple[str, ...]
    all_learned: bool

    @property
    def channels(self) -> int:
        """Returns the number of channels."""
        return len(self.features)

    @property
    def packed(self) -> bool:
        """True if rows say where each of their sequences begins."""
        return self.features == VSL_FEATURES

    @property
    def two_sided(self) -> bool:
        """True if rows hold two answers to one prompt."""
        return self.features == DPO_FEATURES


TEXTS, PACKED_TEXTS = Layout(LM_FEATURES, all_learned=True), Layout(VSL_FEATURES, all_learned=True)
ANSWERS, PACKED_ANSWERS = Layout(LM_FEATURES, all_learned=False), Layout(VSL_FEATURES, all_learned=False)
PREFERENCES = Layout(DPO_FEATURES, all_learned=False)
