def make(params):
    tags = [tag for tag in params["tags"].split(" ") if tag]

    def score(source, response, truth, info):
        around, rest = [], response
        for mark in [mark for tag in tags for mark in (f"<{tag}>", f"</{tag}>")]:
            parts = rest.split(mark)
            if len(parts) != 2:
                return 0.0
            around.append(parts[0])
            rest = parts[1]
        around.append(rest)
        return 1.0 if all(text.strip(SPACES) == "" for text in around[::2]) else 0.0

    return score
