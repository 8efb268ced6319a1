def make(params):
    def distance(a, b):
        row = list(range(len(b) + 1))
        for i, sign in enumerate(a, 1):
            last, row[0] = row[0], i
            for j, other in enumerate(b, 1):
                last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (sign != other))
        return row[-1]

    def score(source, response, truth, info):
        a, b = response[:2000], truth[:2000]
        longer = max(len(a), len(b))
        near = 1.0 if longer == 0 else 1 - distance(a, b) / longer
        result = 1.0
        for _ in range(int(params["power"])):
            result *= near
        return result

    return score
