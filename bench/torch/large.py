"""Decoding and a GRPO step with LoRA of the sizes that people open, in Hugging Face transformers, with random weights.

    python3 bench/torch/large.py 135m          # JSON on stdout; beside it: npm run bench -- --node models

The same work as bench/page/models.ts: 8 prompts of 64 tokens, 8 responses of 64 tokens to each (2 × 2 of 8 on a CPU), a response's
reward is the mean of its ids. A step samples with generate() and its cache, reads the old log-probs, and takes one optimizer step of a LoRA
adapter on every linear layer, with gradient checkpointing. Eager, TF32 off. It needs torch and transformers.
"""

import argparse
import json
import platform
import statistics
import time

import torch
import transformers

LLAMA = {"rms_norm_eps": 1e-5, "tie_word_embeddings": True, "max_position_embeddings": 2048}
# Those of src/rl/train/real/testing.ts.
SHAPES = {
    "15m": (
        transformers.LlamaConfig,
        {"vocab_size": 32000, "hidden_size": 288, "intermediate_size": 768, "num_hidden_layers": 6},
        {"num_attention_heads": 6, "num_key_value_heads": 6, "head_dim": 48},
    ),
    "135m": (
        transformers.LlamaConfig,
        {"vocab_size": 49152, "hidden_size": 576, "intermediate_size": 1536, "num_hidden_layers": 30},
        {"num_attention_heads": 9, "num_key_value_heads": 3, "head_dim": 64},
    ),
    "0.6b": (
        transformers.Qwen3Config,
        {"vocab_size": 151936, "hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28},
        {"num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128},
    ),
}
RANK, ALPHA = 8, 16
CLIP = 0.2


class LowRank(torch.nn.Module):
    """A frozen linear layer and what an adapter adds to it: x [.., in] -> x W^T + (alpha / r) x A^T B^T."""

    def __init__(self, base):
        super().__init__()
        self.base = base
        self.a = torch.nn.Parameter(torch.randn(RANK, base.in_features, device=base.weight.device) * 0.02)
        self.b = torch.nn.Parameter(torch.zeros(base.out_features, RANK, device=base.weight.device))

    def forward(self, x):
        low = x.float() @ self.a.T @ self.b.T
        return self.base(x) + (ALPHA / RANK * low).to(x.dtype)


def build(name, dtype, device):
    """A causal language model of this shape whose linear layers have adapters; all else is frozen."""
    kind, sizes, heads = SHAPES[name]
    config = kind(**{**LLAMA, **sizes, **heads}, pad_token_id=0, eos_token_id=None, bos_token_id=None)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=dtype).to(device)
    model.requires_grad_(False)
    for block in model.model.layers:
        for part in (block.self_attn, block.mlp):
            for at, layer in list(part.named_children()):
                if isinstance(layer, torch.nn.Linear):
                    setattr(part, at, LowRank(layer))
    model.gradient_checkpointing_enable({"use_reentrant": False})
    return model


def log_probs(model, ids, response):
    """Of the last `response` tokens of ids [B, T]: [B, response]."""
    logits = model(input_ids=ids, use_cache=False, logits_to_keep=response + 1).logits[:, :-1].float()
    return torch.log_softmax(logits, -1).gather(-1, ids[:, -response:, None]).squeeze(-1)


def advantages(ids, n, response):
    """GRPO's: a response's mean id, less its group's mean, over its deviation; [B, 1]."""
    rewards = ids[:, -response:].float().mean(-1).view(-1, n)
    normed = (rewards - rewards.mean(-1, keepdim=True)) / (rewards.std(-1, keepdim=True) + 1e-6)
    return normed.view(-1, 1)


def step(model, optimizer, prompts, n, response, sync):
    """One step; the milliseconds of its sampling and of all of it."""
    sync()
    start = time.perf_counter()
    model.eval()
    with torch.no_grad():
        ids = model.generate(
            prompts.repeat_interleave(n, 0),
            attention_mask=torch.ones(len(prompts) * n, prompts.shape[1], dtype=torch.long, device=prompts.device),
            min_new_tokens=response,
            max_new_tokens=response,
            do_sample=True,
            top_k=0,
        )
        sync()
        sampled = time.perf_counter()
        old = log_probs(model, ids, response)
    model.train()
    ratio = (log_probs(model, ids, response) - old).exp()
    gain = advantages(ids, n, response)
    loss = -torch.minimum(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
    optimizer.zero_grad()
    loss.backward()
    trained = [p for p in model.parameters() if p.requires_grad]
    norm = torch.nn.utils.clip_grad_norm_(trained, 1.0)
    optimizer.step()
    sync()
    end = time.perf_counter()
    if not (torch.isfinite(norm) and norm > 0):
        raise SystemExit(f"the gradient's norm is {norm}: nothing was trained")
    return 1000 * (sampled - start), 1000 * (end - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"], help="of the frozen weights and the passes")
    parser.add_argument("--samples", type=int, default=3)
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.manual_seed(1)
    is_cuda = options.device.startswith("cuda")
    count, n, prompt, response = (8, 8, 64, 64) if is_cuda else (2, 2, 8, 8)
    sync = torch.cuda.synchronize if is_cuda else lambda: None
    model = build(options.shape, getattr(torch, options.dtype), options.device)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-4)
    prompts = torch.randint(2, model.config.vocab_size, (count, prompt), device=options.device)
    times = [step(model, optimizer, prompts, n, response, sync) for _ in range(2 + options.samples)][2:]
    rollout, whole = (statistics.median(column) for column in zip(*times))
    print(
        json.dumps(
            {
                "model": options.shape,
                "dtype": options.dtype,
                "trained": sum(p.numel() for p in trained),
                "size": {"prompts": count, "n": n, "prompt": prompt, "response": response},
                "rollout_ms": rollout,
                "step_ms": whole,
                "tokens_per_second": 1000 * count * n * response / rollout,
                "torch": torch.__version__,
                "transformers": transformers.__version__,
                "device": torch.cuda.get_device_name() if is_cuda else platform.processor(),
                "peak_bytes": torch.cuda.max_memory_allocated() if is_cuda else None,
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
