"""Templates, style and charts for pages of the report and the viewer. Knows no corpus."""
