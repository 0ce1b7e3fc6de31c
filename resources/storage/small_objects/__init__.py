"""Small objects of a store that are written under conditions: leases and lists of builders."""
