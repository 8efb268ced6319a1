import re


def score(prompt, response, ground_truth):
    """1 for the same primes in any order."""
    if not re.fullmatch(r"[1-9][0-9]*(\*[1-9][0-9]*)*", response):
        return 0.0
    # Texts are compared, because Python refuses to read a number of thousands of digits.
    return 1.0 if sorted(response.split("*")) == sorted(ground_truth.split("*")) else 0.0
