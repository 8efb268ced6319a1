def make(params):
    def score(source, response, truth, info):
        outside = max(params["shortest"] - len(response), len(response) - params["longest"], 0)
        return max(0.0, 1 - outside / params["slope"])

    return score
