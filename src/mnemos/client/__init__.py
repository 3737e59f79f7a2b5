"""The memory of a server: the other end of ``faces.http``."""
