"""PostgreSQL: the same memory when one machine is not enough. Only a PostgreSQL URL imports this package."""
