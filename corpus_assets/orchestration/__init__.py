"""Everything that drives Dagster: assets, builds, jobs, the sensor and the instance."""
