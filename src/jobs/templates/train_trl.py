"""Trains the model of this folder with TRL's GRPOTrainer, on one GPU or on a CPU.

    pip install "trl>=1.13" && python3 train_trl.py

Writes the model and trl_log.json (every logged step) into trained/. --steps N trains fewer steps.
"""

import argparse
import json
import os

import torch
from datasets import load_dataset
from reward import compute_score
from transformers import AutoModelForCausalLM
from trl import GRPOConfig, GRPOTrainer

HERE = os.path.dirname(os.path.abspath(__file__))

ARGUMENTS = dict(
    # ARGUMENTS
)


def reward(completions, reward_model, data_source, extra_info, **kwargs):
    """One score for each completion; every column of the data set arrives as a list."""
    texts = [c[0]["content"] if isinstance(c, list) else c for c in completions]
    scores = [
        compute_score(data_source=d, solution_str=t, ground_truth=r["ground_truth"], extra_info=e)
        for t, r, d, e in zip(texts, reward_model, data_source, extra_info)
    ]
    return [score["score"] for score in scores]


def model():
    """The folder of the model, or the model with the adapter of this folder, which is then trained in its place."""
    base, adapter = os.path.join(HERE, "model"), os.path.join(HERE, "adapter")
    if not os.path.isdir(adapter):
        return base
    from peft import PeftModel

    return PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(base), adapter, is_trainable=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, help="optimizer steps, in place of the job's own")
    parser.add_argument("--out", default=os.path.join(HERE, "trained"), help="folder of the trained model")
    options = parser.parse_args()
    arguments = dict(ARGUMENTS, output_dir=os.path.join(options.out, "trainer"))
    if options.steps is not None:
        arguments["max_steps"] = options.steps
    files = {split: os.path.join(HERE, "data", f"{split}.parquet") for split in ("train", "val")}
    rows = load_dataset("parquet", data_files=files)
    trainer = GRPOTrainer(
        model=model(),
        reward_funcs=reward,
        args=GRPOConfig(use_cpu=not torch.cuda.is_available(), **arguments),
        train_dataset=rows["train"],
        eval_dataset=rows["val"],
    )
    trainer.train()
    trainer.save_model(options.out)
    with open(os.path.join(options.out, "trl_log.json"), "w") as file:
        json.dump(trainer.state.log_history, file, indent=1)


if __name__ == "__main__":
    main()
