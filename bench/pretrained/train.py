"""Trains a folder of Hugging Face's on rows of {"prompt", "ground_truth"}, as a recipe says: for a model that takes the lab many hours on a CPU.

python3 train.py RECIPE ROWS FOLDER WORK [SECONDS]: reads the untrained model of FOLDER, trains all weights on the answers to the prompts with
the optimizer and the schedules of the recipe's phases, on a CUDA GPU where there is one, and writes the weights back in bfloat16. WORK keeps
the state (every 100 steps), loss.csv and the rows' tokens; the same command continues where it was stopped. With SECONDS the schedule
runs through in that time at the latest, with fewer steps: understory.json says how many.
"""

import itertools
import json
import lzma
import math
import os
import sys
import time

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM

SAVE_EVERY = 100
IGNORED = -100
# Batches whose rows are sorted by length together.
SORTED = 32


def rows_of(path, folder, work, eos):
    """The ids of each row, padded on the right, how many they are, and how many of them are its prompt."""
    kept = os.path.join(work, "rows.pt")
    if not os.path.exists(kept):
        tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        rows = []
        with (lzma.open if path.endswith(".xz") else open)(path, "rt") as file:
            while lines := list(itertools.islice(file, 4096)):
                parsed = [json.loads(line) for line in lines]
                encoded = [tokenizer.encode_batch([row[key] for row in parsed], add_special_tokens=False) for key in ("prompt", "ground_truth")]
                rows += [(torch.tensor(p.ids + r.ids + [eos], dtype=torch.int16), len(p.ids)) for p, r in zip(*encoded)]
        ids = torch.nn.utils.rnn.pad_sequence([ids for ids, _ in rows], batch_first=True)
        torch.save((ids, torch.tensor([len(ids) for ids, _ in rows]), torch.tensor([prompt for _, prompt in rows])), kept)
    return torch.load(kept)


def batches_of(lengths, size, seed):
    """Rows of each step of an epoch: in a new order, those of about one length together, so that little is padding."""
    draw = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(lengths), generator=draw)
    batches = []
    for near in order.split(size * SORTED):
        near = near[lengths[near].argsort(stable=True)]
        batches += near[: len(near) // size * size].split(size)
    return [batches[i] for i in torch.randperm(len(batches), generator=draw).tolist()]


def loss_of(model, ids, lengths, prompts):
    """The mean loss of the answers' tokens: nothing behind a row counts, and nothing in its prompt."""
    places = torch.arange(ids.shape[1], device=ids.device)
    targets = ids.long().where((places >= prompts[:, None]) & (places < lengths[:, None]), IGNORED)
    # What bfloat16 costs in accuracy is less than what the steps that it saves bring.
    with torch.autocast(ids.device.type, torch.bfloat16, enabled=ids.device.type == "cuda"):
        logits = model(input_ids=ids[:, :-1].long(), use_cache=False).logits
    return torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), targets[:, 1:].flatten(), ignore_index=IGNORED)


class Muon:
    """The lab's Muon of the blocks' matrices (src/kernels/muon/muon.ref.ts), in float32: matrices of one shape together."""

    def __init__(self, parameters, decay, momentum=0.95, steps=5, coefficients=(3.4445, -4.775, 2.0315)):
        shapes = {}
        for own in parameters:
            shapes.setdefault(tuple(own.shape), []).append(own)
        self.groups, self.decay, self.momentum, self.steps, self.coefficients = list(shapes.values()), decay, momentum, steps, coefficients
        self.moments = [torch.zeros(len(own), *own[0].shape, device=own[0].device) for own in self.groups]

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


def main(recipe_path, rows_path, folder, work, seconds=None):
    with open(recipe_path) as file:
        recipe = json.load(file)
    phases = recipe["phases"]
    steps, size, optim = sum(phase["steps"] for phase in phases), phases[0]["batch_size"], phases[0]["optim"]
    os.makedirs(work, exist_ok=True)
    torch.manual_seed(recipe["seed"])
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).to(device)
    ids, lengths, prompts = rows_of(rows_path, folder, work, model.config.eos_token_id)
    own_ids, own_lengths, own_prompts = (own.to(device) for own in (ids, lengths, prompts))
    betas, decay = tuple(optim.get("betas", (0.9, 0.95))), optim.get("weight_decay", 0.01)
    is_muon = optim.get("optimizer", "AdamW") == "Muon"
    matrices = [p for name, p in model.named_parameters() if is_muon and name.startswith("model.layers.") and p.ndim == 2]
    muon = Muon(matrices, decay)
    others = [p for p in model.parameters() if all(p is not own for own in matrices)]
    optimizer = torch.optim.AdamW(others, lr=optim["lr"], betas=betas, weight_decay=decay)
    state_path, loss_path = os.path.join(work, "state.pt"), os.path.join(work, "loss.csv")
    first = 0
    if os.path.exists(state_path):
        state = torch.load(state_path, map_location=device)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        muon.moments, first = state["moments"], state["step"]
    batches, epoch = [], -1
    per_epoch = len(batches_of(lengths, size, recipe["seed"]))
    log = open(loss_path, "a")
    if first == 0:
        log.write("step,loss,seconds\n")
    started, done, losses = time.time(), first, []
    while done < steps:
        # Where the time is short, the schedule hurries.
        at = max(done, steps * (time.time() - started) / float(seconds)) if seconds else done
        if at >= steps:
            break
        if done // per_epoch != epoch:
            epoch = done // per_epoch
            batches = batches_of(lengths, size, recipe["seed"] + epoch)
        rows = batches[done % per_epoch]
        width, rows = lengths[rows].max().item(), rows.to(device, non_blocking=True)
        loss = loss_of(model, own_ids[rows, :width], own_lengths[rows], own_prompts[rows])
        model.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1)
        rate = rate_at(at, phases)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        muon.step(rate)
        losses.append(loss.detach())
        done += 1
        if done % SAVE_EVERY == 0:
            log.write(f"{done},{torch.stack(losses).mean().item():.4f},{time.time() - started:.1f}\n")
            log.flush()
            losses = []
            save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "moments": muon.moments, "step": done}, state_path)
    weights = os.path.join(folder, "model.safetensors")
    trained = model.state_dict()
    names = load_file(weights).keys()
    save_file({name: trained[name].to("cpu", torch.bfloat16).contiguous() for name in names}, weights, {"format": "pt"})
    write(os.path.join(folder, "config.json"), dtype="bfloat16", torch_dtype="bfloat16")
    write(os.path.join(folder, "understory.json"), step=done)


def save(state, path):
    """Writes the state beside the old one, then over it."""
    torch.save(state, path + ".part")
    os.replace(path + ".part", path)


def write(path, **changed):
    """Changes entries of a JSON file."""
    with open(path) as file:
        content = json.load(file)
    with open(path, "w") as file:
        json.dump({**content, **changed}, file, indent=2)
        file.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:6])
