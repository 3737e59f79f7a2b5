"""How the outside reaches the operations: faces translate and decide nothing."""
