"""Every conversation, kept and found."""
