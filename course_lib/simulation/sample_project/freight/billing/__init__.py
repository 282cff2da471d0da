"""Invoices, credit notes, reminders and value added tax."""
