"""Records what torch.optim.Muon does to small matrices: python tools/torch_muon.py

Writes src/kernels/muon/torch_muon.json, which biome formats. Each case is run twice: as torch does it, with Newton-Schulz
steps in bfloat16, and with the same code of torch in float64 throughout.
"""

import json
from pathlib import Path

import torch
from torch.optim._muon import _adjust_lr

OUT = Path(__file__).parent.parent / "src" / "kernels" / "muon" / "torch_muon.json"

CASES = [
    {"rows": 3, "columns": 5, "lr": 0.02, "weight_decay": 0.1},
    {"rows": 6, "columns": 4, "lr": 0.1, "weight_decay": 0.0, "adjust_lr_fn": "match_rms_adamw"},
    {"rows": 8, "columns": 8, "lr": 0.05, "weight_decay": 0.01, "nesterov": False, "momentum": 0.8},
    {
        "rows": 1,
        "columns": 4,
        "lr": 0.02,
        "weight_decay": 0.1,
        "ns_steps": 3,
        "ns_coefficients": [2.0, -1.5, 0.5],
    },
]


def run(case: dict, weights: torch.Tensor, gradients: torch.Tensor) -> list[float]:
    settings = {k: v for k, v in case.items() if k not in ("rows", "columns")}
    param = torch.nn.Parameter(weights.clone())
    optimizer = torch.optim.Muon([param], **settings)
    for gradient in gradients:
        param.grad = gradient.clone()
        optimizer.step()
    return [round(x, 14) for x in param.detach().flatten().tolist()]


def main() -> None:
    torch.manual_seed(1)
    bfloat16 = torch.Tensor.bfloat16
    cases = []
    for case in CASES:
        size = (case["rows"], case["columns"])
        weights = torch.randn(size, dtype=torch.float64).mul(100).round() / 100
        gradients = torch.randn((3, *size), dtype=torch.float64).mul(100).round() / 100
        torch.Tensor.bfloat16 = torch.Tensor.clone
        in_float64 = run(case, weights, gradients)
        torch.Tensor.bfloat16 = bfloat16
        cases.append(
            {
                **case,
                "lr_ratio": _adjust_lr(1.0, case.get("adjust_lr_fn"), size),
                "weights": weights.flatten().tolist(),
                "gradients": [g.flatten().tolist() for g in gradients],
                "in_float64": in_float64,
                "in_bfloat16": run(case, weights.float(), gradients.float()),
            }
        )
    source = f"tools/torch_muon.py, torch {torch.__version__.split('+')[0]}"
    lines = ",\n".join("    " + json.dumps(case) for case in cases)
    OUT.write_text(f'{{\n  "source": {json.dumps(source)},\n  "cases": [\n{lines}\n  ]\n}}\n')


if __name__ == "__main__":
    main()
