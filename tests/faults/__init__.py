"""What happens when processes die, disks fill up and files are damaged: on real processes and files."""
