def make(params):
    return lambda source, response, truth, info: 1.0 if response == truth else 0.0
