"""Input made to break in, to break down, or to be taken for something else."""
