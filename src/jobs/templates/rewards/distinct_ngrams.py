def make(params):
    import re

    n = params["ngram"]

    def score(source, response, truth, info):
        words = re.findall(r"[a-z0-9']+", response.lower())
        count = len(words) - n + 1
        if count < 1:
            return 0.0
        return len({tuple(words[i : i + n]) for i in range(count)}) / count

    return score
