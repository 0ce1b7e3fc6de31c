"""Contact data of persons in running text: e-mail addresses, IP addresses, phone numbers."""
