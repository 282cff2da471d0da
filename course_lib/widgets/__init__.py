"""What the notebooks show: charts, sources, and the live picture of a run."""
