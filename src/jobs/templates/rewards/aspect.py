def make(params):
    return lambda source, response, truth, info: aspects(info["prompt"] + response)[params["aspect"]]
