"""Scan events, progress and claims."""
