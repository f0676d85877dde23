"""Proofs under audit: all proofs, their broken twins, mutants, and the laws they speak about."""
