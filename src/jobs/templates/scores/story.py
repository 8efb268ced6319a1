import functools
import json
import re

# The sentences and words of the stories: what each sentence needs to be true, and what is true after it.
GRAMMAR = json.loads(r"""{GRAMMAR}""")
SLOT = re.compile(r"\{([Aa] )?([\w ]+)\}")


def capital(word):
    return word[0].upper() + word[1:]


def filled(text, words):
    """The sentence with these words, its articles and pronouns as they should be."""

    def word_of(slot):
        name = slot.lower()
        follows, word = GRAMMAR["following"].get(name), words.get(name, "")
        if not follows and name in GRAMMAR["agreeing"] and word in GRAMMAR["forms_of_kinds"]:
            follows = {"of": GRAMMAR["agreeing"][name], "forms": GRAMMAR["forms_of_kinds"][word]}
        if follows:
            word = follows["forms"][1 if words.get(follows["of"]) in GRAMMAR["second_form"] else 0]
        return capital(word) if slot[0].isupper() else word

    def part(match):
        article, slots = match.group(1), match.group(2).split(" ")
        own = [word_of(slot) for slot in slots]
        if not article or words.get(slots[-1]) in GRAMMAR["pairs"]:
            return " ".join(own)
        before = "an" if re.match(GRAMMAR["an"], own[0]) else "a"
        return " ".join([capital(before) if article[0] == "A" else before, *own])

    return SLOT.sub(part, text)


@functools.lru_cache(maxsize=None)
def pattern_of(text):
    source, start, seen = "", 0, set()
    for match in SLOT.finditer(text):
        source += re.escape(text[start : match.start()])
        start = match.end()
        if match.group(1):
            source += "(?:[Aa]n? )?"
        parts = []
        for slot in match.group(2).split(" "):
            name = slot.lower()
            follows = GRAMMAR["following"].get(name)
            words = follows["forms"] if follows else GRAMMAR["words"][GRAMMAR["lists"][name]]
            any_of = "|".join(re.escape(capital(w) if slot[0].isupper() else w) for w in words)
            named = name not in seen and not follows
            seen.add(name)
            parts.append(f"(?P<{name}>{any_of})" if named else f"(?:{any_of})")
        source += " ".join(parts)
    return re.compile(source + re.escape(text[start:]))


def slots_of(text):
    names = [slot.lower() for match in SLOT.finditer(text) for slot in match.group(2).split(" ")]
    return {GRAMMAR["following"].get(name, {"of": name})["of"] for name in names}


def split_sentences(text):
    found, start, is_open = [], 0, False
    for i, sign in enumerate(text):
        if sign == '"':
            is_open = not is_open
        elif is_open or sign not in ".!?":
            continue
        ends = sign in ".!?" or (i > 0 and text[i - 1] in ".!?")
        if not is_open and ends and re.match(r'[ \t\n\r]+["A-Z]|[ \t\n\r]*\Z', text[i + 1 :]):
            found.append(text[start : i + 1])
            start = i + (2 if text[i + 1 : i + 2] == " " else 1)
    return found + ([text[start:]] if start < len(text) else [])


def faults_of(text, sentence, words, facts, names):
    """How many things are wrong with a sentence after what was said before."""
    faults = sum((need.strip("!") in facts) == need.startswith("!") for need in sentence["needs"])
    if "ended" in facts and "!ended" not in sentence["needs"]:
        faults += 1
    for slot in slots_of(sentence["text"]) & set(GRAMMAR["kept"]):
        faults += slot in words and slot in names and names[slot] != words[slot]
    if "friend" in words and words["friend"] == names.get("hero", words.get("hero")):
        faults += 1
    return faults + (filled(sentence["text"], {**names, **words}) != text)


def read(text):
    """Faults of each sentence, whether the story ends, and how its hero feels; a sentence that is none has one fault."""
    facts, names, found, mood = set(), {}, [], None
    for own in split_sentences(text):
        best = None
        for sentence in GRAMMAR["sentences"]:
            match = pattern_of(sentence["text"]).fullmatch(own)
            if not match:
                continue
            words = match.groupdict()
            faults = faults_of(own, sentence, words, facts, names)
            if best is None or faults < best[0]:
                best = (faults, sentence, words)
            if faults == 0:
                break
        found.append(1 if best is None else best[0])
        if best is None:
            continue
        for fact in best[1]["gives"]:
            (facts.discard if fact.startswith("!") else facts.add)(fact.strip("!"))
        mood = best[1].get("mood", mood)
        kept = slots_of(best[1]["text"]) & set(GRAMMAR["kept"])
        names = {**{slot: best[2][slot] for slot in kept if slot in best[2]}, **names}
    return found, "ended" in facts, mood


def aspects(text):
    """What the story is like, each from 0 to 1."""
    faults, has_ended, mood = read(text)
    return {
        "has_end": float(has_ended),
        "happy_end": float(has_ended and mood == "happy"),
        "sad_end": float(has_ended and mood == "sad"),
        "coherence": sum(own == 0 for own in faults) / len(faults),
    }


def score(prompt, response, ground_truth):
    """The share of the story's sentences that fit what was said before, if it comes to an end."""
    faults, has_ended, _ = read(prompt + response)
    return sum(own == 0 for own in faults) / len(faults) if has_ended else 0.0
