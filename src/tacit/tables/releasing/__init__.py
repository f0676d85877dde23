"""How an answer is released: the price, the charge, the trusted room, samples and parts."""
