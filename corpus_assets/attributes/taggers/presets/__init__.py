"""Taggers of the filter's presets: what the original implementations measure."""
