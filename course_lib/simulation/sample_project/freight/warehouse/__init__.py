"""Boxes, labels, pallets, picking and storage."""
