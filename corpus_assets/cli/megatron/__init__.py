"""`corpus megatron-cache`."""
