"""Messages to customers and the rules for sending them."""
