"""Scores a response as the lab does: the sum of weight * score over the parts below.

verl calls compute_score with keywords for each response, decoded without special tokens; train_trl.py calls the same function. Each part is
reported under its own name; `acc` says whether every verifier among them gives 1, and is what dynamic sampling compares.
"""

import json
import math
import sys

SPACES = " \t\n\r\f\v"


def answer_part(text, place):
    """The part of a text that holds its answer: in \\boxed{...}, behind ####, or all of it; None where the place is not there."""

    def behind_hashes():
        at = text.rfind("####")
        return None if at < 0 else text[at + 4 :].split("\n")[0]

    def boxed():
        at = text.rfind("\\boxed{")
        depth = 1
        for i in range(at + 7, len(text) if at >= 0 else 0):
            depth += {"{": 1, "}": -1}.get(text[i], 0)
            if depth == 0:
                return text[at + 7 : i]
        return None

    if place == "hashes":
        return behind_hashes()
    if place == "boxed":
        return boxed()
    if place == "last":
        return text
    found = boxed()
    if found is None:
        found = behind_hashes()
    return text if found is None else found


# PARTS


# Name, weight, whether it is a verifier, and the rule.
RULES = [
# RULES
]
# Whether right answers can be objects and lists, which the rows hold as JSON.
IS_JSON = False  # IS_JSON
# What says whether a response is right where there is no verifier.
TASK = None  # TASK


def truth_of(ground_truth):
    if IS_JSON and isinstance(ground_truth, str):
        try:
            read = json.loads(ground_truth)
        except ValueError:
            return ground_truth
        return read if isinstance(read, (dict, list)) else ground_truth
    return ground_truth if isinstance(ground_truth, (dict, list)) else str(ground_truth)


def value_of(returned):
    """The score in what a rule returned, and the other numbers beside it."""
    own = returned["score"] if isinstance(returned, dict) else returned
    score = float(own)
    if isinstance(own, str) or not math.isfinite(score):
        raise ValueError(own)
    extra = returned if isinstance(returned, dict) else {}
    return score, {k: float(v) for k, v in extra.items() if k != "score" and isinstance(v, (int, float))}


def compute_score(data_source, solution_str, ground_truth, extra_info=None, **kwargs):
    info = {"prompt": "", **(extra_info or {})}
    truth = truth_of(ground_truth)
    total, is_right, has_failed = 0.0, True, False
    found = {}
    for name, weight, is_verifier, rule in RULES:
        try:
            score, extra = value_of(rule(data_source, solution_str, truth, info))
        except Exception:
            has_failed, score, extra = True, 0.0, {}
        found[name] = score
        found.update({f"{name}/{key}": value for key, value in extra.items()})
        total += weight * score
        if is_verifier:
            is_right = is_right and extra.get("acc", score) == 1
    if TASK is not None:
        try:
            is_right = TASK(data_source, solution_str, truth, info) == 1
        except Exception:
            is_right = False
    return {
        **found,
        "score": 0.0 if has_failed else total,
        "acc": 1.0 if is_right and not has_failed else 0.0,
        "pred": solution_str,
    }
