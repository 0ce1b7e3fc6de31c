"""What names or reaches a person in running text: e-mail addresses, IP addresses, phone numbers."""
