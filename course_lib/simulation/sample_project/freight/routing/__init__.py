"""Distances, legs, tours and delivery windows."""
