"""The SQLite engine, through apsw, which includes its own SQLite."""
