PAIRS = {")": "(", "]": "[", "}": "{"}


def is_balanced(text):
    stack = []
    for bracket in text:
        if bracket in PAIRS.values():
            stack.append(bracket)
        elif bracket not in PAIRS or not stack or stack.pop() != PAIRS[bracket]:
            return False
    return not stack


def score(prompt, response, ground_truth):
    """1 for a text that differs from the prompt's in one bracket and has all of them matched."""
    broken = prompt[:-1]
    changed = sum(a != b for a, b in zip(response, broken))
    return 1.0 if len(response) == len(broken) and changed == 1 and is_balanced(response) else 0.0
