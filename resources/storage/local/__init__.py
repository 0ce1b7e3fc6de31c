"""The store in a folder of this machine."""
