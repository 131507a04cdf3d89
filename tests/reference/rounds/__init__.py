"""One round of each paper's method in plain PyTorch."""
