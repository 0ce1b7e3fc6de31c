"""The name of a corpus without a name. Several may have it, so it identifies no corpus in a shared store."""

UNNAMED = "corpus"
