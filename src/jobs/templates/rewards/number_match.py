import re


def make(params):
    def last_number(text):
        found = re.findall("-?[0-9][0-9,]*(?:\\.[0-9]+)?|-?\\.[0-9]+", text or "")
        return float(found[-1].replace(",", "")) if found else None

    def score(source, response, truth, info):
        found = last_number(answer_part(response, params["place"]))
        right = last_number(answer_part(truth, "anywhere"))
        if found is None or right is None:
            return 0.0
        return 1.0 if abs(found - right) <= params["tolerance"] else 0.0

    return score
