"""The SQLite engine, through apsw, which carries its own SQLite."""
