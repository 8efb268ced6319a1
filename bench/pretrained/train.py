"""Trains a folder of Hugging Face's on rows of {"prompt", "ground_truth"}, as a recipe says: for a model that takes the lab many hours on a CPU.

python3 train.py RECIPE ROWS FOLDER WORK: reads the untrained model of FOLDER, trains all weights on the answers to the prompts with the
optimizer and the schedules of the recipe's phases, and writes the weights back in bfloat16. WORK keeps the state (every 50 steps) and
loss.csv; the same command continues where it was stopped.
"""

import json
import math
import os
import sys
import time

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM

SAVE_EVERY = 50
IGNORED = -100


def rows_of(path, folder, eos):
    """Token ids of each row, and how many of them are its prompt."""
    tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
    with open(path) as file:
        rows = [json.loads(line) for line in file]
    encoded = [tokenizer.encode_batch([row[key] for row in rows], add_special_tokens=False) for key in ("prompt", "ground_truth")]
    return [(p.ids + r.ids + [eos], len(p.ids)) for p, r in zip(*encoded)]


def batch_of(rows):
    """Ids padded on the right, and the targets: nothing behind a row, and nothing in its prompt."""
    width = max(len(ids) for ids, _ in rows)
    ids = torch.zeros(len(rows), width, dtype=torch.long)
    targets = torch.full((len(rows), width), IGNORED)
    for b, (own, prompt) in enumerate(rows):
        ids[b, : len(own)] = torch.tensor(own)
        targets[b, prompt : len(own)] = ids[b, prompt : len(own)]
    return ids, targets


def rate_at(step, phases):
    """verl's schedules, each phase with its own: a linear warm-up, then constant or a cosine down to a share of the rate."""
    for phase in phases:
        steps, optim = phase["steps"], phase["optim"]
        if step < steps:
            break
        step -= steps
    warm = optim.get("lr_warmup_steps", 0)
    if step < warm:
        return optim["lr"] * step / max(1, warm)
    if optim.get("lr_scheduler_type", "constant") == "constant":
        return optim["lr"]
    floor = optim.get("min_lr_ratio", 0)
    wave = 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, steps - warm)))
    return optim["lr"] * (floor + (1 - floor) * wave)


def main(recipe_path, rows_path, folder, work):
    with open(recipe_path) as file:
        recipe = json.load(file)
    phases = recipe["phases"]
    steps, size, optim = sum(phase["steps"] for phase in phases), phases[0]["batch_size"], phases[0]["optim"]
    torch.manual_seed(recipe["seed"])
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    rows = rows_of(rows_path, folder, model.config.eos_token_id)
    betas, decay = tuple(optim.get("betas", (0.9, 0.95))), optim.get("weight_decay", 0.01)
    optimizer = torch.optim.AdamW(model.parameters(), lr=optim["lr"], betas=betas, weight_decay=decay)
    state_path, loss_path = os.path.join(work, "state.pt"), os.path.join(work, "loss.csv")
    first = 0
    if os.path.exists(state_path):
        state = torch.load(state_path)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        first = state["step"]
    per_epoch = len(rows) // size
    order, epoch = [], -1
    log = open(loss_path, "a")
    for step in range(first, steps):
        if step // per_epoch != epoch:
            epoch = step // per_epoch
            order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(recipe["seed"] + epoch)).tolist()
        at = step % per_epoch * size
        ids, targets = batch_of([rows[i] for i in order[at : at + size]])
        for group in optimizer.param_groups:
            group["lr"] = rate_at(step, phases)
        started = time.time()
        logits = model(input_ids=ids).logits
        loss = torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), targets[:, 1:].flatten(), ignore_index=IGNORED)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.step()
        log.write(f"{step + 1},{loss.item():.4f},{time.time() - started:.2f}\n")
        log.flush()
        if (step + 1) % SAVE_EVERY == 0 or step + 1 == steps:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step + 1}
            torch.save(state, state_path + ".part")
            os.replace(state_path + ".part", state_path)
    weights = os.path.join(folder, "model.safetensors")
    trained = model.state_dict()
    names = load_file(weights).keys()
    save_file({name: trained[name].to(torch.bfloat16).contiguous() for name in names}, weights, {"format": "pt"})
    write(os.path.join(folder, "config.json"), dtype="bfloat16", torch_dtype="bfloat16")
    write(os.path.join(folder, "understory.json"), step=steps)


def write(path, **changed):
    """Changes entries of a JSON file."""
    with open(path) as file:
        content = json.load(file)
    with open(path, "w") as file:
        json.dump({**content, **changed}, file, indent=2)
        file.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:5])
