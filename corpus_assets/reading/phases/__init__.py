"""Training plans of phases: which source each window comes from. Later phases may change while a run goes on."""
