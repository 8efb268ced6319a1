def answer(arguments):
    expression = arguments.get("expression")
    if not isinstance(expression, str):
        raise TypeError("expected a text in the argument expression")
    if len(expression) > 200:
        raise ValueError(f"expected at most 200 characters, got {len(expression)}")
    try:
        value, _ = work_out(re.sub(r"\s", "", expression))
    except (ValueError, IndexError):
        raise ValueError("this is no expression of whole numbers") from None
    if not math.isfinite(value):
        raise ValueError("division by zero")
    if abs(math.trunc(value)) > 2**53 - 1:
        raise ValueError("the result is too large")
    return shown(value)


def shown(value):
    """A number as JavaScript writes it."""
    if value == int(value):
        return str(int(value))
    text = repr(value)
    # JavaScript writes 0.00001 as 0.00001 and only smaller ones with an exponent.
    if "e-" in text:
        digits, exponent = text.split("e-")
        if int(exponent) < 7:
            return f"{value:.{int(exponent) + len(digits.replace('-', '').replace('.', '')) - 1}f}"
        return f"{digits}e-{int(exponent)}"
    return text
