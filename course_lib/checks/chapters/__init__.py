"""Exercises and questions, a module a chapter; `course_lib.checks.catalogue` collects whatever lies here."""
