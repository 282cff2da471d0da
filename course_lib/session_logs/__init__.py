"""Reading the logs of real agent sessions, and an X-ray of where their tokens went (chapter 04)."""
