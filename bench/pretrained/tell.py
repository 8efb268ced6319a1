"""Continues prompts with a folder of Hugging Face's: how the quality of the storyteller is measured.

python3 tell.py FOLDER REQUEST: reads {"prompts", "temperatures", "max_tokens"} of a JSON file and prints, for each temperature (0 is greedy), a
line with the list of the texts that follow the prompts. Samples are drawn in float32, from seed 1. With "steering", a list of
{"toward", "away", "layer", "strength"}, it prints such lines for each of its entries.
"""

import contextlib
import json
import os
import sys

import torch
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM


def continuations(model, tokenizer, prompts, temperature, max_tokens):
    """One text for each prompt, to its end token."""
    end = model.config.eos_token_id
    ids = [own.ids for own in tokenizer.encode_batch(prompts, add_special_tokens=False)]
    width = max(len(own) for own in ids)
    rows = torch.tensor([[model.config.pad_token_id] * (width - len(own)) + own for own in ids])
    mask = torch.tensor([[0] * (width - len(own)) + [1] * len(own) for own in ids])
    how = {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0} if temperature > 0 else {"do_sample": False}
    torch.manual_seed(1)
    with torch.no_grad():
        written = model.generate(input_ids=rows, attention_mask=mask, max_new_tokens=max_tokens, eos_token_id=end, **how)
    texts = []
    for row in written[:, width:].tolist():
        texts.append(tokenizer.decode(row[: row.index(end)] if end in row else row, skip_special_tokens=False))
    return texts


def block_states(model, tokenizer, text, layer):
    """States of a text's tokens after so many blocks, before any norm, [tokens, hidden_size]."""
    kept = []
    hook = model.model.layers[layer - 1].register_forward_hook(lambda _, __, states: kept.append(states))
    with torch.no_grad():
        model(torch.tensor([tokenizer.encode(text, add_special_tokens=False).ids]))
    hook.remove()
    return kept[0][0]


@contextlib.contextmanager
def steered(model, tokenizer, change):
    """Adds a vector to the states after a layer at every token, as `lab steer --toward --away` makes it: the mean state of one text less that
    of another, times the strength."""
    if change is None:
        yield
        return
    toward, away = (block_states(model, tokenizer, change[side], change["layer"]).mean(0) for side in ("toward", "away"))
    vector = change["strength"] * (toward - away)
    hook = model.model.layers[change["layer"] - 1].register_forward_hook(lambda _, __, states: states + vector)
    yield
    hook.remove()


def main(folder, request_path):
    # Threads that wait for one another cost more than they bring at these sizes.
    torch.set_num_threads(1)
    with open(request_path) as file:
        request = json.load(file)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
    for change in request.get("steering", [None]):
        with steered(model, tokenizer, change):
            for temperature in request["temperatures"]:
                print(json.dumps(continuations(model, tokenizer, request["prompts"], temperature, request["max_tokens"])), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:3])
