"""Around the course: setting it up, looking it over, keeping its notebooks fresh. Nothing to learn from here."""
