"""Killed processes, full disks and damaged files, on real processes and files."""
