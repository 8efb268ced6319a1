def make(params):
    import re

    def words_in(text):
        return re.findall(r"[a-z0-9']+", text.lower())

    wanted = set(words_in(params["words"]))

    def score(source, response, truth, info):
        found = [word for word in words_in(response) if word in wanted]
        count = len(found) if params["every_time"] else len(set(found))
        return min(1.0, count / params["enough"])

    return score
