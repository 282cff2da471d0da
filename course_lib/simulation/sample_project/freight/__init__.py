"""Pricing, routing and handling of parcels for a small freight company."""
