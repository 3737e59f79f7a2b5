"""The PostgreSQL engine, for several machines. Only a PostgreSQL URL imports this package."""
