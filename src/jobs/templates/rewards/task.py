def make(params):
    return lambda source, response, truth, info: score(info["prompt"], response, truth)
