"""One reinforcement step of preset A in plain PyTorch: the same model, the same batch size, GRPO.

    npm run bench -- torch                      # writes dist/torch: weights and our first three steps
    python3 bench/torch/rl_step.py dist/torch   # takes them again, then times its own

First it repeats the three recorded steps from the recorded weights and responses and prints its losses beside ours. Then it
times one step by stage: rollout with a KV cache, log-probs, update; eager and, from PyTorch 2 on, torch.compile.

The model is Qwen3 as in Hugging Face transformers (models/qwen3/modeling_qwen3.py): RMSNorm before each half of a block,
RMSNorm of every q and k head, rotary embedding, SwiGLU, tied embeddings. Shapes: B rows, P prompt columns (padded on the left),
R response columns, T = P + R, V vocabulary, C hidden size, H heads, D head size, L blocks.
"""

import argparse
import json
import math
import platform
import statistics
import time
from pathlib import Path

import torch
import torch.nn.functional as F

# Every tensor of the flat weight file starts at a multiple of so many elements (src/model/layout.ts).
CHUNK = 64
ADAM_EPS = 1e-8
# The largest relative difference to our own numbers that rounding explains.
TOLERANCE = 1e-3
# Added to a masked score.
MASKED = -1e9


# Weights


def read_weights(folder, model, device):
    """Parameters under short names, from `weights.f32`: the layout of src/model/layout.ts, q, k, v and gate, up joined."""
    flat = torch.frombuffer(bytearray((folder / "weights.f32").read_bytes()), dtype=torch.float32)
    C, D, inner = model["hidden_size"], model["head_dim"], model["intermediate_size"]
    heads, kv_heads = model["num_attention_heads"], model["num_key_value_heads"]
    qkv_rows = (heads + 2 * kv_heads) * D
    end = 0

    def take(*shape):
        nonlocal end
        start = math.ceil(end / CHUNK) * CHUNK
        end = start + math.prod(shape)
        return flat[start:end].view(*shape).clone().to(device).requires_grad_()

    weights = {"embed": take(model["vocab_size"], C), "layers": []}
    for _ in range(model["num_hidden_layers"]):
        weights["layers"].append(
            {
                "attn_norm": take(C),
                "qkv": take(qkv_rows, C),
                "qk_norm": take(2, D),
                "o": take(C, heads * D),
                "ffn_norm": take(C),
                "gate_up": take(2 * inner, C),
                "down": take(C, inner),
            }
        )
    weights["norm"] = take(C)
    if math.ceil(end / CHUNK) * CHUNK != flat.numel():
        raise SystemExit(f"{folder}: weights.f32 has {flat.numel()} values, the model {end}")
    return weights


def parameters(weights):
    layers = [value for layer in weights["layers"] for value in layer.values()]
    return [weights["embed"], *layers, weights["norm"]]


# Model


def rms_norm(x, weight, eps):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight


def rotary(model, position_ids):
    """cos and sin, [B, 1, T, D]; both halves of a head turn by the same angles."""
    D = model["head_dim"]
    index = torch.arange(0, D, 2, dtype=torch.float32, device=position_ids.device)
    angles = position_ids[:, None, :, None].float() * model["rope_theta"] ** (-index / D)
    angles = torch.cat([angles, angles], -1)
    return angles.cos(), angles.sin()


def rotate(x, cos, sin):
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat([-second, first], -1) * sin


def attention_scores(model, layer, x, cos, sin, cache=None, column=None):
    """q [B, H, t, D], k and v [B, H, T, D]; with a cache, t new columns go into it at `column` and all of it comes back."""
    B, t, _ = x.shape
    D, eps = model["head_dim"], model["rms_norm_eps"]
    heads, kv_heads = model["num_attention_heads"], model["num_key_value_heads"]
    qkv = (x @ layer["qkv"].T).view(B, t, heads + 2 * kv_heads, D).transpose(1, 2)
    q, k, v = qkv.split([heads, kv_heads, kv_heads], 1)
    q = rotate(rms_norm(q, layer["qk_norm"][0], eps), cos, sin)
    k = rotate(rms_norm(k, layer["qk_norm"][1], eps), cos, sin)
    if cache is not None:
        cache[0][:, :, column : column + t] = k
        cache[1][:, :, column : column + t] = v
        k, v = cache
    if kv_heads != heads:
        k, v = (part.repeat_interleave(heads // kv_heads, 1) for part in (k, v))
    return q, k, v


def block(model, layer, x, cos, sin, bias, cache=None, column=None):
    B, t, _ = x.shape
    eps = model["rms_norm_eps"]
    normed = rms_norm(x, layer["attn_norm"], eps)
    q, k, v = attention_scores(model, layer, normed, cos, sin, cache, column)
    scores = q @ k.transpose(-1, -2) / math.sqrt(model["head_dim"]) + bias
    context = (scores.softmax(-1) @ v).transpose(1, 2).reshape(B, t, -1)
    x = x + context @ layer["o"].T
    gate, up = (rms_norm(x, layer["ffn_norm"], eps) @ layer["gate_up"].T).chunk(2, -1)
    return x + (F.silu(gate) * up) @ layer["down"].T


def causal_bias(attention_mask):
    """[B, 1, T, T]: MASKED for later columns and for padding."""
    T = attention_mask.shape[1]
    earlier = torch.ones(T, T, dtype=torch.bool, device=attention_mask.device).tril()
    allowed = earlier[None, None] & (attention_mask[:, None, None, :] > 0)
    return torch.zeros_like(allowed, dtype=torch.float32).masked_fill(~allowed, MASKED)


def response_logits(model, weights, batch):
    """[B, R, V]: what predicts each response token."""
    cos, sin = rotary(model, batch["position_ids"])
    bias = causal_bias(batch["attention_mask"])
    x = weights["embed"][batch["input_ids"]]
    for layer in weights["layers"]:
        x = block(model, layer, x, cos, sin, bias)
    R = batch["response_ids"].shape[1]
    states = rms_norm(x[:, -R - 1 : -1], weights["norm"], model["rms_norm_eps"])
    return states @ weights["embed"].T


def log_probs_of(model, weights, batch, temperature):
    """Log-probs of the response tokens, [B, R]."""
    logits = response_logits(model, weights, batch) / temperature
    return logits.log_softmax(-1).gather(-1, batch["response_ids"][..., None]).squeeze(-1)


# Stages


@torch.no_grad()
def rollout(model, weights, prompts, n, R, temperature, eos, pad):
    """n sampled responses to each prompt with a KV cache: ids [N · n, R]. A prompt is prefilled once."""
    mask = prompts["attention_mask"]
    N, P = mask.shape
    device = mask.device
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    heads, D = model["num_key_value_heads"], model["head_dim"]
    caches = [
        [torch.zeros(N, heads, P, D, device=device) for _ in range(2)] for _ in weights["layers"]
    ]
    cos, sin = rotary(model, positions)
    x = weights["embed"][prompts["input_ids"]]
    for layer, cache in zip(weights["layers"], caches):
        x = block(model, layer, x, cos, sin, causal_bias(mask), cache, 0)
    B = N * n
    x = x[:, -1:].repeat_interleave(n, 0)
    wide = [
        [F.pad(part.repeat_interleave(n, 0), (0, 0, 0, R)) for part in cache] for cache in caches
    ]
    seen = F.pad(mask.repeat_interleave(n, 0), (0, R))
    length = mask.sum(-1).repeat_interleave(n, 0)
    ids = torch.full((B, R), pad, dtype=torch.long, device=device)
    ended = torch.zeros(B, dtype=torch.bool, device=device)
    for t in range(R):
        logits = rms_norm(x[:, -1], weights["norm"], model["rms_norm_eps"]) @ weights["embed"].T
        drawn = torch.multinomial((logits / temperature).softmax(-1), 1).squeeze(-1)
        ids[:, t] = torch.where(ended, torch.full_like(drawn, pad), drawn)
        ended = ended | (drawn == eos)
        if t == R - 1:
            break
        seen[:, P + t] = 1
        bias = torch.zeros(B, 1, 1, P + R, device=device)
        bias = bias.masked_fill(seen[:, None, None, :] == 0, MASKED)
        cos, sin = rotary(model, (length + t)[:, None])
        x = weights["embed"][ids[:, t : t + 1]]
        for layer, cache in zip(weights["layers"], wide):
            x = block(model, layer, x, cos, sin, bias, cache, P + t)
    return ids


def policy_loss(phase, log_probs, old_log_probs, advantages, mask):
    """verl's vanilla PPO loss with dual clip, token-mean (verl/trainer/ppo/core_algos.py compute_policy_loss_vanilla)."""
    actor = phase["actor"]
    log_ratio = (log_probs - old_log_probs).clamp(-20, 20)
    ratio = log_ratio.exp()
    clipped = ratio.clamp(1 - actor["clip_ratio_low"], 1 + actor["clip_ratio_high"])
    losses = torch.maximum(-advantages * ratio, -advantages * clipped)
    dual = torch.minimum(-advantages * actor["clip_ratio_c"], losses)
    losses = torch.where(advantages < 0, dual, losses)
    return (losses * mask).sum() / mask.sum(), -(log_ratio * mask).sum() / mask.sum()


def update(phase, weights, optimizer, batch, rows, score):
    """All mini-batches of one step; as in verl, losses are summed over them, KL and gradient norm are means."""
    metrics = []
    for first in range(0, rows["batch"], rows["mini"]):
        part = {name: value[first : first + rows["mini"]] for name, value in batch.items()}
        optimizer.zero_grad(set_to_none=True)
        log_probs = score(part)
        pg_loss, ppo_kl = policy_loss(
            phase, log_probs, part["old_log_probs"], part["advantages"], part["response_mask"]
        )
        pg_loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(parameters(weights), phase["actor"]["grad_clip"])
        optimizer.step()
        metrics.append(torch.stack([pg_loss.detach(), ppo_kl.detach(), norm]))
    pg_loss, ppo_kl, grad_norm = torch.stack(metrics).sum(0).tolist()
    count = len(metrics)
    return {
        "actor/pg_loss": pg_loss,
        "actor/ppo_kl": ppo_kl / count,
        "actor/grad_norm": grad_norm / count,
    }


def adamw(phase, weights, lr):
    optim = phase["actor"]["optim"]
    return torch.optim.AdamW(
        parameters(weights),
        lr=lr,
        betas=tuple(optim["betas"]),
        eps=ADAM_EPS,
        weight_decay=optim["weight_decay"],
    )


# The run


def require_supported(run):
    model, actor = run["model"], run["phase"]["actor"]
    plain = {
        "loss_mode": "vanilla",
        "loss_agg_mode": "token-mean",
        "entropy_coeff": 0,
        "ppo_epochs": 1,
        "use_kl_loss": False,
    }
    off = [f"{name} {actor[name]}" for name, value in plain.items() if actor[name] != value]
    if model["model_type"] != "qwen3" or not model["tie_word_embeddings"]:
        off.append(f"{model['model_type']}, tied {model['tie_word_embeddings']}")
    if off:
        raise SystemExit(f"steps.json: expected plain GRPO of a tied qwen3, got {'; '.join(off)}")


def tensors_of(run, step, device):
    P, R = run["prompt_length"], run["response_length"]

    def array(name, columns, dtype):
        return torch.tensor(step[name], dtype=dtype, device=device).view(-1, columns)

    whole = ("input_ids", "attention_mask", "position_ids")
    floats = ("response_mask", "advantages", "old_log_probs")
    return {
        **{name: array(name, P + R, torch.long) for name in whole},
        "response_ids": array("response_ids", R, torch.long),
        **{name: array(name, R, torch.float32) for name in floats},
    }


def compare_steps(folder, run, device):
    """The recorded steps again: our numbers, PyTorch's and the largest relative difference of losses and norms."""
    model, phase = run["model"], run["phase"]
    temperature = phase["rollout"]["temperature"]
    weights = read_weights(folder, model, device)
    optimizer = adamw(phase, weights, run["steps"][0]["lr"])
    rows, worst = [], 0.0
    for number, step in enumerate(run["steps"], 1):
        batch = tensors_of(run, step, device)
        with torch.no_grad():
            old_log_probs = log_probs_of(model, weights, batch, temperature)
        mask = batch["response_mask"]
        log_prob_error = ((old_log_probs - batch["old_log_probs"]) * mask).abs().max().item()
        batch["old_log_probs"] = old_log_probs
        for group in optimizer.param_groups:
            group["lr"] = step["lr"]
        theirs = update(
            phase, weights, optimizer, batch, run["rows"],
            lambda part: log_probs_of(model, weights, part, temperature),
        )
        ours = {name: step["metrics"][name] for name in theirs}
        for name in ("actor/pg_loss", "actor/grad_norm"):
            worst = max(worst, abs(theirs[name] - ours[name]) / max(1e-3, abs(ours[name])))
        rows.append(
            {
                "step": number,
                "understory": ours,
                "torch": theirs,
                "log_prob_error": log_prob_error,
            }
        )
    return {"steps": rows, "largest_difference": worst, "agrees": worst < TOLERANCE}


def wait(device):
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def milliseconds(device, work):
    wait(device)
    start = time.perf_counter()
    result = work()
    wait(device)
    return (time.perf_counter() - start) * 1000, result


def time_stages(folder, run, device, samples, is_compiled):
    """Median ms of each stage, after a warm-up in which torch.compile compiles; `first_ms` is what that took."""
    model, phase = run["model"], run["phase"]
    P, R, n = run["prompt_length"], run["response_length"], phase["rollout"]["n"]
    temperature = phase["rollout"]["temperature"]
    weights = read_weights(folder, model, device)
    optimizer = adamw(phase, weights, run["steps"][0]["lr"])
    batch = tensors_of(run, run["steps"][0], device)
    prompts = {name: batch[name][::n, :P] for name in ("input_ids", "attention_mask")}

    def score(part):
        return log_probs_of(model, weights, part, temperature)

    def generate():
        eos, pad = run["eos_token_id"], run["pad_token_id"]
        return rollout(model, weights, prompts, n, R, temperature, eos, pad)

    if is_compiled:
        # Both sizes of batch get kernels of their own; otherwise the second call would make them all dynamic.
        score = torch.compile(score, dynamic=False)
        generate = torch.compile(generate, dynamic=False)

    def old_log_probs():
        with torch.no_grad():
            return score(batch)

    stages = {
        "rollout": generate,
        "log_prob": old_log_probs,
        "update": lambda: update(phase, weights, optimizer, batch, run["rows"], score),
    }
    ms = {name: [] for name in stages}
    first_ms = {name: milliseconds(device, work)[0] for name, work in stages.items()}
    for _ in range(2):
        for work in stages.values():
            work()
    for _ in range(samples):
        for name, work in stages.items():
            ms[name].append(milliseconds(device, work)[0])
    medians = {name: statistics.median(values) for name, values in ms.items()}
    return {"ms": medians, "step_ms": sum(medians.values()), "first_ms": first_ms}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="what `npm run bench -- torch` wrote")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--samples", type=int, default=20)
    parser.add_argument("--eager-only", action="store_true", help="leave torch.compile out")
    options = parser.parse_args()
    device = torch.device(options.device)
    # float32 throughout, as in WebGPU: no TF32 in products.
    torch.backends.cuda.matmul.allow_tf32 = False
    run = json.loads((options.folder / "steps.json").read_text())
    require_supported(run)
    cpu = f"{platform.machine()}, {torch.get_num_threads()} threads"
    result = {
        "torch": torch.__version__,
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else cpu,
        "compared": compare_steps(options.folder, run, device),
        "eager": time_stages(options.folder, run, device, options.samples, False),
    }
    if hasattr(torch, "compile") and not options.eager_only:
        result["compiled"] = time_stages(options.folder, run, device, options.samples, True)
    print(json.dumps(result, indent=2))
    raise SystemExit(0 if result["compared"]["agrees"] else 1)


if __name__ == "__main__":
    main()
