import math
import re


def quotient(a, b):
    """a / b as IEEE 754 has it: infinite or no number where b is 0."""
    if b != 0:
        return a / b
    if a == 0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def work_out(text):
    """The value of an expression of + - * / and brackets, and the numbers in it. Raises ValueError where the text is none."""
    tokens = re.findall(r"[0-9]+|[-+*/()]", text)
    if "".join(tokens) != text or any(re.match("0[0-9]", token) for token in tokens):
        raise ValueError(text)
    tokens.append("")
    numbers = []
    at = 0

    def take():
        nonlocal at
        at += 1
        return tokens[at - 1]

    def factor():
        token = take()
        if token == "(":
            value = total()
            if take() != ")":
                raise ValueError(text)
            return value
        if not token[:1].isdigit():
            raise ValueError(text)
        numbers.append(float(token))
        return numbers[-1]

    def product():
        value = factor()
        while tokens[at] in ("*", "/"):
            sign, right = take(), factor()
            value = value * right if sign == "*" else quotient(value, right)
        return value

    def total():
        value = product()
        while tokens[at] in ("+", "-"):
            sign, right = take(), product()
            value = value + right if sign == "+" else value - right
        return value

    value = total()
    if tokens[at] != "":
        raise ValueError(text)
    return value, numbers


def score(prompt, response, ground_truth):
    """1 for an expression that uses each number of the prompt once and comes to its target."""
    given, target = prompt.split("=")
    try:
        value, numbers = work_out(response)
    except (ValueError, RecursionError):
        return 0.0
    is_each_used = sorted(numbers) == sorted(float(number) for number in given.split(","))
    # Quotients are rounded.
    return 1.0 if is_each_used and abs(value - float(target)) < 1e-9 else 0.0
