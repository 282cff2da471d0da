"""Measuring what a way of managing context keeps, loses and costs (chapters 05 and 13)."""
