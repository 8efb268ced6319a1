def score(prompt, response, ground_truth):
    """The share of characters that are right at their place; 0 for a response of another length."""
    if len(response) != len(ground_truth):
        return 0.0
    return sum(a == b for a, b in zip(response, ground_truth)) / len(ground_truth)
