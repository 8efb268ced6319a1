"""Distils teacher/ into model/ with TRL's GKDTrainer, on one GPU or on a CPU.

    pip install "trl>=1.13" && python3 train_trl.py

Writes the model and trl_log.json (every logged step) into trained/. --steps N trains fewer steps.
"""

import argparse
import json
import os

import torch
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl.experimental.gkd import GKDConfig, GKDTrainer

HERE = os.path.dirname(os.path.abspath(__file__))

ARGUMENTS = dict(
    # ARGUMENTS
)


class Trainer(GKDTrainer):
    """GKDTrainer samples at its temperature and compares both models at 1: this one compares them at
    the temperature too."""

    @staticmethod
    def generalized_jsd_loss(*args, **kwargs):
        kwargs.setdefault("temperature", ARGUMENTS["temperature"])
        return GKDTrainer.generalized_jsd_loss(*args, **kwargs)


def load(folder):
    return AutoModelForCausalLM.from_pretrained(os.path.join(HERE, folder), dtype=torch.float32)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, help="optimizer steps, in place of the job's own")
    parser.add_argument("--out", default=os.path.join(HERE, "trained"), help="folder of the trained model")
    options = parser.parse_args()
    arguments = dict(ARGUMENTS, output_dir=os.path.join(options.out, "trainer"))
    if options.steps is not None:
        arguments["max_steps"] = options.steps
    rows = load_dataset("json", data_files=os.path.join(HERE, "data", "train.jsonl"), split="train")
    trainer = Trainer(
        model=load("model"),
        teacher_model=load("teacher"),
        args=GKDConfig(use_cpu=not torch.cuda.is_available(), **arguments),
        train_dataset=rows,
        processing_class=AutoTokenizer.from_pretrained(os.path.join(HERE, "model")),
    )
    trainer.train()
    trainer.save_model(options.out)
    with open(os.path.join(options.out, "trl_log.json"), "w") as file:
        json.dump(trainer.state.log_history, file, indent=1)


if __name__ == "__main__":
    main()
