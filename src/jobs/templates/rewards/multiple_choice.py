import re


def make(params):
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: int(params["choices"])]
    behind = "answer(?:[ \\t]+is)?[ \\t]*:?[ \\t]*[(\\[]?([A-Za-z])(?![A-Za-z0-9_])"
    alone = "(?<![A-Za-z0-9_'])([A-Za-z])(?![A-Za-z0-9_])"

    def chosen(text):
        part = answer_part(text, "anywhere")
        for pattern, flags in ((behind, re.IGNORECASE | re.ASCII), (alone, 0)):
            found = [letter.upper() for letter in re.findall(pattern, part, flags)]
            found = [letter for letter in found if letter in letters]
            if found:
                return found[-1]
        return None

    def score(source, response, truth, info):
        right = chosen(truth)
        return 1.0 if right is not None and chosen(response) == right else 0.0

    return score
