"""A world for agents that needs no key and no network: a sample workspace, tools that work on it, an offline model.

A leaf: it builds on the book modules of `course_lib`, and none of them imports it.
"""
