"""Reading `corpus.yaml`: strict YAML, profiles, changes, and faults in words."""
