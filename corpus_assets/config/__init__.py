"""`corpus.yaml`: its schema, and reading it. Imports no stage and no algorithm."""

from corpus_assets.config.corpus_config import CorpusConfig
from corpus_assets.config.reading.loading import load_config, loaded_config, parse_config

__all__ = ["CorpusConfig", "load_config", "loaded_config", "parse_config"]
