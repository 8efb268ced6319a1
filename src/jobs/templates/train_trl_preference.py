"""Trains the model of this folder with TRL's TRL_TRAINER, on one GPU or on a CPU.

    pip install "trl>=1.13" && python3 train_trl.py

Writes the model and trl_log.json (every logged step) into trained/. --steps N trains fewer steps.
"""

import argparse
import json
import os

import torch
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from TRL_MODULE import TRL_CONFIG, TRL_TRAINER

HERE = os.path.dirname(os.path.abspath(__file__))

ARGUMENTS = dict(
    # ARGUMENTS
)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, help="optimizer steps, in place of the job's own")
    parser.add_argument("--out", default=os.path.join(HERE, "trained"), help="folder of the trained model")
    options = parser.parse_args()
    arguments = dict(ARGUMENTS, output_dir=os.path.join(options.out, "trainer"))
    if options.steps is not None:
        arguments["max_steps"] = options.steps
    paths = {split: os.path.join(HERE, "data", f"{split}.parquet") for split in ("train", "val")}
    rows = load_dataset("parquet", data_files={s: p for s, p in paths.items() if os.path.exists(p)})
    trainer = TRL_TRAINER(
        model=AutoModelForCausalLM.from_pretrained(os.path.join(HERE, "model"), dtype=torch.float32),
        args=TRL_CONFIG(use_cpu=not torch.cuda.is_available(), **arguments),
        train_dataset=rows["train"],
        eval_dataset=rows.get("val"),
        processing_class=AutoTokenizer.from_pretrained(os.path.join(HERE, "model")),
    )
    trainer.train()
    trainer.save_model(options.out)
    with open(os.path.join(options.out, "trl_log.json"), "w") as file:
        json.dump(trainer.state.log_history, file, indent=1)


if __name__ == "__main__":
    main()
