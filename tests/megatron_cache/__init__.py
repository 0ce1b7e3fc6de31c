"""Index files for Megatron, written ahead."""
