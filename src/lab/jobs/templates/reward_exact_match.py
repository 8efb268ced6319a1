"""Scores a response as the lab does: 1 where it is the right answer, nothing more and nothing less, else 0.

verl calls compute_score with keywords for each response, decoded without special tokens; train_trl.py calls the same function.
`acc` and `pred` are what verl's validation reports, and `acc` is what dynamic sampling compares.
"""


def compute_score(data_source, solution_str, ground_truth, extra_info=None, **kwargs):
    is_right = 1.0 if solution_str == str(ground_truth) else 0.0
    return {"score": is_right, "acc": is_right, "pred": solution_str}
