import re
import string
import unicodedata


def make(params):
    def trimmed(text):
        return re.sub("^ | $", "", re.sub("[ \\t\\n\\r\\f\\v]+", " ", text))

    def normalised(text):
        text = unicodedata.normalize("NFKC", text).lower()
        if params["punctuation"]:
            text = "".join(sign for sign in text if sign not in string.punctuation)
        if params["articles"]:
            text = re.sub("(^| )(a|an|the)(?= |$)", "\\1", trimmed(text))
        return trimmed(text)

    return lambda source, response, truth, info: 1.0 if normalised(response) == normalised(truth) else 0.0
