"""`corpus doctor` and its checks."""
