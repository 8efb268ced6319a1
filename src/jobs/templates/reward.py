"""Scores a response as the lab does, from 0 to 1; 1 is right.

verl calls compute_score with keywords for each response, decoded without special tokens; train_trl.py calls the same function.
`acc` and `pred` are what verl's validation reports, and `acc` is what dynamic sampling compares.
"""

# SCORE


def compute_score(data_source, solution_str, ground_truth, extra_info=None, **kwargs):
    prompt = (extra_info or {}).get("prompt", "")
    points = score(prompt, solution_str, str(ground_truth))
    return {"score": points, "acc": 1.0 if points == 1 else 0.0, "pred": solution_str}
