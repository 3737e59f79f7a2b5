"""Rules over natural language: times, closing statements, stated facts, threats."""
