"""The `corpus` command."""

from corpus_assets.cli.main import app, main

__all__ = ["app", "main"]
