def make(params):
    def numbers_in(text):
        return [float(number) for number in re.findall("[0-9]+", text)]

    def score(source, response, truth, info):
        numbers = numbers_in(truth)
        if len(numbers) < 2:
            numbers = numbers_in(info["prompt"])
        if not numbers:
            return 0.0
        target = numbers.pop()
        answer = answer_part(response, "anywhere").split("=")[0]
        try:
            value, used = work_out("".join(sign for sign in answer if sign not in SPACES))
        except (ValueError, RecursionError):
            return 0.0
        if not abs(value - target) < 1e-9:
            return 0.0
        if params["all_numbers"]:
            return 1.0 if sorted(used) == sorted(numbers) else 0.0
        for number in used:
            if number not in numbers:
                return 0.0
            numbers.remove(number)
        return 1.0

    return score
