def score(prompt, response, ground_truth):
    """1 for the right answer, nothing more and nothing less."""
    return 1.0 if response == ground_truth else 0.0
