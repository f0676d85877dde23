"""Local and smooth sensitivity, and propose-test-release."""
