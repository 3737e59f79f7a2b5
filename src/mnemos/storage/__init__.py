"""Where memory is kept: the contract (base.py) and the engines that fulfil it."""
