"""Configurations and command lines of Cerebras' Model Zoo as datasets."""
