"""The index files that Megatron's GPTDataset would build before a run, written ahead (docs/trainers/megatron-lm.md)."""
