"""Every verb of the product, declared once; faces are made from it."""
