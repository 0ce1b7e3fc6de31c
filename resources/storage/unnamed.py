"""The name of a corpus that was given none; several may have it, so it is none for a store that others reach too."""

UNNAMED = "corpus"
