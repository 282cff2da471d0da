"""The basic terms every other part builds on."""
