"""Trains a folder of Hugging Face's on rows of {"prompt", "ground_truth"}, as a recipe says: for a model that takes the lab many hours on a CPU.

python3 train.py RECIPE ROWS FOLDER WORK: reads the untrained model of FOLDER, trains all weights on the answers to the prompts with the
optimizer and the schedules of the recipe's phases, and writes the weights back in bfloat16. WORK keeps the state (every 50 steps) and
loss.csv; the same command continues where it was stopped.
"""

import itertools
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
# Batches whose rows are sorted by length together.
SORTED = 32


def rows_of(path, folder, eos):
    """Token ids of each row, and how many of them are its prompt."""
    tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
    rows = []
    with open(path) as file:
        while lines := list(itertools.islice(file, 4096)):
            parsed = [json.loads(line) for line in lines]
            encoded = [tokenizer.encode_batch([row[key] for row in parsed], add_special_tokens=False) for key in ("prompt", "ground_truth")]
            rows += [(torch.tensor(p.ids + r.ids + [eos], dtype=torch.int16), len(p.ids)) for p, r in zip(*encoded)]
    return rows


def batches_of(rows, size, seed):
    """Rows of each step of an epoch: in a new order, those of about one length together, so that little is padding."""
    draw = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(rows), generator=draw).tolist()
    batches = []
    for at in range(0, len(order), size * SORTED):
        near = sorted(order[at : at + size * SORTED], key=lambda i: len(rows[i][0]))
        batches += [near[b : b + size] for b in range(0, len(near) - size + 1, size)]
    return [batches[i] for i in torch.randperm(len(batches), generator=draw).tolist()]


def batch_of(rows):
    """Ids padded on the right, and the targets: nothing behind a row, and nothing in its prompt."""
    width = max(len(ids) for ids, _ in rows)
    ids = torch.zeros(len(rows), width, dtype=torch.long)
    targets = torch.full((len(rows), width), IGNORED)
    for b, (own, prompt) in enumerate(rows):
        ids[b, : len(own)] = own
        targets[b, prompt : len(own)] = ids[b, prompt : len(own)]
    return ids, targets


def loss_of(model, ids, targets):
    """The mean loss of the targets; the head sees no other token."""
    wanted = targets[:, 1:] != IGNORED
    hidden = model.model(input_ids=ids[:, :-1]).last_hidden_state[wanted]
    return torch.nn.functional.cross_entropy(model.lm_head(hidden), targets[:, 1:][wanted])


class Muon:
    """The lab's Muon of the blocks' matrices (src/kernels/muon/muon.ref.ts), in float32: matrices of one shape together."""

    def __init__(self, parameters, decay, momentum=0.95, steps=5, coefficients=(3.4445, -4.775, 2.0315)):
        shapes = {}
        for own in parameters:
            shapes.setdefault(tuple(own.shape), []).append(own)
        self.groups, self.decay, self.momentum, self.steps, self.coefficients = list(shapes.values()), decay, momentum, steps, coefficients
        self.moments = [torch.zeros(len(own), *own[0].shape) for own in self.groups]

    @torch.no_grad()
    def step(self, lr):
        for own, moment in zip(self.groups, self.moments):
            gradient = torch.stack([p.grad for p in own])
            moment.lerp_(gradient, 1 - self.momentum)
            x = gradient.lerp(moment, self.momentum)
            is_tall = x.shape[1] > x.shape[2]
            if is_tall:
                x = x.mT
            x = x / x.norm(dim=(1, 2), keepdim=True).clamp(min=1e-7)
            a, b, c = self.coefficients
            for _ in range(self.steps):
                gram = x @ x.mT
                x = a * x + (b * gram + c * gram @ gram) @ x
            ratio = 0.2 * math.sqrt(max(x.shape[1:]))
            for p, direction in zip(own, x.mT if is_tall else x):
                p.mul_(1 - lr * self.decay).sub_(direction, alpha=lr * ratio)


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
    is_muon = optim.get("optimizer", "AdamW") == "Muon"
    matrices = [p for name, p in model.named_parameters() if is_muon and name.startswith("model.layers.") and p.ndim == 2]
    muon = Muon(matrices, decay)
    others = [p for p in model.parameters() if all(p is not own for own in matrices)]
    optimizer = torch.optim.AdamW(others, lr=optim["lr"], betas=betas, weight_decay=decay)
    state_path, loss_path = os.path.join(work, "state.pt"), os.path.join(work, "loss.csv")
    first = 0
    if os.path.exists(state_path):
        state = torch.load(state_path)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        muon.moments, first = state["moments"], state["step"]
    batches, epoch = [], -1
    per_epoch = len(batches_of(rows, size, recipe["seed"]))
    log = open(loss_path, "a")
    for step in range(first, steps):
        if step // per_epoch != epoch:
            epoch = step // per_epoch
            batches = batches_of(rows, size, recipe["seed"] + epoch)
        started, rate = time.time(), rate_at(step, phases)
        loss = loss_of(model, *batch_of([rows[i] for i in batches[step % per_epoch]]))
        model.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        muon.step(rate)
        log.write(f"{step + 1},{loss.item():.4f},{time.time() - started:.2f}\n")
        log.flush()
        if (step + 1) % SAVE_EVERY == 0 or step + 1 == steps:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "moments": muon.moments, "step": step + 1}
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
