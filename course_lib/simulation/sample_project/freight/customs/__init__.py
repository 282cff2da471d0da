"""Declarations, tariff codes and duties for parcels that cross a border."""
