"""Rates, surcharges, discounts and quotes."""
