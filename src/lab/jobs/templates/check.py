#!/usr/bin/env python3
"""Checks this job without a GPU, and says what passes, what fails and what was skipped, and why.

    python3 check.py                 with whatever Python packages are there
    python3 check.py --verl DIR      with a checkout of verl in DIR; no installation of it is needed
    python3 check.py --train         also trains two steps with TRL, on the CPU
"""

import argparse
import importlib
import importlib.util
import inspect
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import types

HERE = os.path.dirname(os.path.abspath(__file__))
FACTS = json.load(open(os.path.join(HERE, "understory.json"), encoding="utf-8"))
CHECK = FACTS["check"]
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


class Skip(Exception):
    """A check that cannot be made here."""


def there(*names):
    """Skips where a package is missing."""
    for name in names:
        if importlib.util.find_spec(name) is None:
            raise Skip(f"no Python package {name}")


def path(*names):
    return os.path.join(HERE, *names)


def read_json(*names):
    with open(path(*names), encoding="utf-8") as file:
        return json.load(file)


def starters():
    return [name for name in ("run_verl.sh", "run_bupo.sh") if os.path.exists(path(name))]


def check_files():
    missing = [name for name in FACTS["files"] if not os.path.exists(path(name))]
    assert not missing, f"missing: {', '.join(missing)}"
    return f"{len(FACTS['files'])} files"


def check_weights():
    """The header of every file of weights, without any package."""
    names = [name for name in os.listdir(path("model")) if name.endswith(".safetensors")]
    count = 0
    for name in names:
        with open(path("model", name), "rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(length))
            size = os.fstat(file.fileno()).st_size - 8 - length
        header.pop("__metadata__", None)
        assert max(t["data_offsets"][1] for t in header.values()) == size, f"{name}: cut short"
        count += len(header)
    return f"{count} tensors in {len(names)} file{'s' if len(names) > 1 else ''}"


def check_scripts():
    for name in [n for n in FACTS["files"] if n.endswith(".sh")]:
        subprocess.run(["bash", "-n", path(name)], check=True)
    printed = [f"{name}: {len(overrides(name))} arguments" for name in starters()]
    return "; ".join(printed) or "no start script of verl"


def load_reward():
    spec = importlib.util.spec_from_file_location("job_reward", path("reward.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.compute_score


def check_reward():
    score = load_reward()
    for case in CHECK["scores"]:
        got = score("", case["response"], case["ground_truth"], {"prompt": case["prompt"]})
        assert got["score"] == case["score"], f"{case}: scored {got}"
    return f"{len(CHECK['scores'])} responses scored as the lab scores them"


def check_rows():
    there("pyarrow")
    import pyarrow.parquet as parquet

    said = []
    for split, rows in CHECK["rows"].items():
        table = parquet.read_table(path("data", f"{split}.parquet"))
        assert table.num_rows == rows, f"{split}: {table.num_rows} rows, expected {rows}"
        assert str(table.schema.field("extra_info").type) == "struct<split: string, index: int64, prompt: string>"
        first = table.slice(0, 1).to_pylist()[0]
        assert isinstance(first["reward_model"]["ground_truth"], str)
        said.append(f"{rows} rows of {split}")
    return ", ".join(said)


def check_tokenizer():
    there("transformers")
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(path("model"))
    for case in CHECK["prompts"]:
        ids = tokenizer.apply_chat_template(
            [{"role": "user", "content": case["text"]}], tokenize=True, add_generation_prompt=True, return_dict=False
        )
        assert list(ids) == case["ids"], f"{case['text']!r}: {ids}, expected {case['ids']}"
        assert tokenizer.decode(case["ids"]) == case["text"]
    assert tokenizer.eos_token_id == CHECK["eos_token_id"], tokenizer.eos_token_id
    return f"transformers {transformers.__version__} encodes {len(CHECK['prompts'])} prompts to the lab's ids"


def check_model():
    there("torch", "transformers")
    import torch
    import transformers

    model, info = transformers.AutoModelForCausalLM.from_pretrained(path("model"), output_loading_info=True)
    bad = [name for name in info["missing_keys"] if name != "lm_head.weight"] + list(info["unexpected_keys"])
    assert not bad, f"weights that do not fit: {bad}"
    with torch.no_grad():
        logits = model(torch.tensor([CHECK["prompts"][0]["ids"]])).logits
    assert torch.isfinite(logits).all(), "logits that are not finite"
    said = f"{sum(p.numel() for p in model.parameters()):,} parameters, finite logits"
    if os.path.isdir(path("critic")):
        critic = transformers.AutoModelForTokenClassification.from_pretrained(path("critic"))
        assert critic.num_labels == 1
        said += "; the critic has one value for each token"
    return said


def overrides(script):
    """The arguments of a start script, as it prints them."""
    done = subprocess.run(["bash", path(script), "--print"], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def unquoted(text):
    """A value as Hydra reads it, for the values that a job has."""
    if len(text) > 1 and text[0] == '"' and text[-1] == '"':
        return re.sub(r'(\\+)"', lambda m: "\\" * (len(m[1]) // 2) + '"', text[1:-1])
    if text.startswith("["):
        return [unquoted(part) for part in text[1:-1].split(",") if part]
    words = {"True": True, "False": False, "null": None}
    if text in words:
        return words[text]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            pass
    return text


def verl_config():
    """verl's own configuration with this job's arguments: an unknown name raises."""
    there("verl", "omegaconf")
    import verl
    from omegaconf import OmegaConf

    folder = os.path.join(os.path.dirname(verl.__file__), "trainer", "config")
    config = OmegaConf.load(os.path.join(folder, "_generated_ppo_trainer.yaml"))
    OmegaConf.set_struct(config, True)
    for argument in overrides("run_verl.sh"):
        key, _, value = argument.partition("=")
        if key.startswith("+"):
            OmegaConf.update(config, key[1:], unquoted(value), force_add=True)
        else:
            OmegaConf.update(config, key, unquoted(value), merge=True)
    return config


def need_verl():
    if not os.path.exists(path("run_verl.sh")):
        raise Skip("this job has no run_verl.sh")
    there("verl", "torch", "transformers", "omegaconf", "ray", "datasets")


def check_verl_config():
    need_verl()
    config = verl_config()
    from verl.trainer.ppo.utils import need_critic, need_reference_policy
    from verl.utils.config import validate_config

    validate_config(config, need_reference_policy(config), need_critic(config))
    return f"validate_config of verl {version_of('verl')} passes"


def version_of(package):
    return getattr(importlib.import_module(package), "__version__", "of unknown version")


def check_verl_data():
    need_verl()
    from omegaconf import OmegaConf
    from verl.utils import hf_tokenizer
    from verl.utils.dataset.rl_dataset import RLHFDataset

    config = verl_config()
    with tempfile.TemporaryDirectory() as cache:
        OmegaConf.update(config, "data.cache_dir", cache, force_add=True)
        rows = RLHFDataset(path("data", "train.parquet"), hf_tokenizer(path("model")), config.data)
        assert len(rows) == CHECK["rows"]["train"], f"{len(rows)} rows, expected {CHECK['rows']['train']}"
        item = rows[0]
    assert "reward_model" in item and "extra_info" in item
    return f"RLHFDataset reads {len(rows)} rows"


def check_verl_tokens():
    need_verl()
    from verl.utils import hf_tokenizer

    build = find_builder()
    tokenizer = hf_tokenizer(path("model"))
    # 0.9 asks for the family of the model by another name than later versions.
    name = "hf_model_type" if "hf_model_type" in inspect.signature(build).parameters else "model_family"
    builder = build(tokenizer, **{name: read_json("model", "config.json")["model_type"]})
    for case in CHECK["prompts"]:
        ids = builder.build_initial_tokens([{"role": "user", "content": case["text"]}])
        assert list(ids) == case["ids"], f"{case['text']!r}: {ids}, expected {case['ids']}"
    return f"the token builder gives the lab's ids for {len(CHECK['prompts'])} prompts"


def find_builder():
    """verl moved the builder of continuous tokens; its name stayed."""
    import verl

    root = os.path.dirname(verl.__file__)
    for folder, _, names in os.walk(root):
        for name in names:
            if not name.endswith(".py"):
                continue
            file = os.path.join(folder, name)
            with open(file, encoding="utf-8") as opened:
                if "def create_continuous_token_builder" not in opened.read():
                    continue
            module = "verl." + os.path.relpath(file, root)[:-3].replace(os.sep, ".").removesuffix(".__init__")
            return importlib.import_module(module).create_continuous_token_builder
    raise Skip("this verl has no token builder")


def check_verl_reward():
    need_verl()
    from verl.trainer.ppo.reward import get_custom_reward_fn

    score = get_custom_reward_fn(verl_config())
    assert score is not None, "verl finds no reward function"
    if not CHECK["scores"]:
        return "verl loads reward.py"
    case = CHECK["scores"][0]
    told = {"prompt": case["prompt"]}
    got = score(data_source="", solution_str=case["response"], ground_truth=case["ground_truth"], extra_info=told)
    assert got["score"] == case["score"], f"{case}: scored {got}"
    return "verl loads reward.py, which scores the right answer 1"


def check_trl():
    if not os.path.exists(path("train_trl.py")):
        raise Skip("this job has no train_trl.py")
    there("trl", "torch", "transformers", "datasets")
    sys.path.insert(0, HERE)
    import train_trl
    from trl import GRPOConfig

    with tempfile.TemporaryDirectory() as out:
        GRPOConfig(use_cpu=True, **dict(train_trl.ARGUMENTS, output_dir=out))
    return f"trl {version_of('trl')} takes every argument"


def check_trl_trains():
    if not OPTIONS.train:
        raise Skip("only with --train")
    if not os.path.exists(path("train_trl.py")):
        raise Skip("this job has no train_trl.py")
    there("trl", "torch", "transformers", "datasets")
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, path("train_trl.py"), "--steps", "2", "--out", out]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-1000:]
        log = json.load(open(os.path.join(out, "trl_log.json"), encoding="utf-8"))
    rewards = [row["reward"] for row in log if "reward" in row]
    return f"two steps of TRL, rewards {', '.join(f'{r:.3f}' for r in rewards)}"


def stand_ins():
    """Modules in place of packages that verl imports and that these checks do not use."""

    class Nothing:
        def __init__(self, *args, **kwargs):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *args):
            return False

        def __call__(self, function):
            return function

    def module(name, **names):
        if importlib.util.find_spec(name.split(".")[0]) is None or name.split(".")[0] in made:
            made.add(name.split(".")[0])
            sys.modules[name] = types.ModuleType(name)
            sys.modules[name].__dict__.update(names)
            # find_spec asks for it.
            sys.modules[name].__spec__ = importlib.util.spec_from_loader(name, loader=None)

    def instantiate(config, **kwargs):
        from omegaconf import OmegaConf

        plain = OmegaConf.to_container(config, resolve=True) if OmegaConf.is_config(config) else config
        return made_of({**plain, **kwargs}) if plain else None

    def made_of(node):
        if isinstance(node, list):
            return [made_of(part) for part in node]
        if not isinstance(node, dict):
            return node
        parts = {key: made_of(part) for key, part in node.items() if key not in ("_target_", "_convert_")}
        if "_target_" not in node:
            return parts
        home, _, name = node["_target_"].rpartition(".")
        return getattr(importlib.import_module(home), name)(**parts)

    made = set()
    tensor_dict = type("TensorDict", (dict,), {})
    names = {
        "TensorDict": tensor_dict,
        "TensorDictBase": tensor_dict,
        "NonTensorData": Nothing,
        "NonTensorStack": Nothing,
        "set_lazy_legacy": Nothing,
        "__version__": "0.10.0",
    }
    module("tensordict", **names)
    module("tensordict.tensorclass", **names)
    module("codetiming", Timer=Nothing)
    module("hydra", main=lambda *args, **kwargs: lambda function: function)
    module("hydra.utils", instantiate=instantiate)
    if "hydra" in made:
        sys.modules["hydra"].utils = sys.modules["hydra.utils"]


CHECKS = {
    "files": check_files,
    "weights": check_weights,
    "scripts": check_scripts,
    "reward": check_reward,
    "rows": check_rows,
    "tokenizer": check_tokenizer,
    "model": check_model,
    "verl: configuration": check_verl_config,
    "verl: data": check_verl_data,
    "verl: tokens": check_verl_tokens,
    "verl: reward": check_verl_reward,
    "TRL: arguments": check_trl,
    "TRL: training": check_trl_trains,
}


def main():
    counts = {"passed": 0, "FAILED": 0, "skipped": 0}
    for name, check in CHECKS.items():
        try:
            outcome, said = "passed", check()
        except Skip as skip:
            outcome, said = "skipped", str(skip)
        except Exception as error:
            outcome, said = "FAILED", f"{type(error).__name__}: {error}"
        counts[outcome] += 1
        print(f"{outcome:8} {name:20} {said}", flush=True)
    print(f"{counts['passed']} passed, {counts['FAILED']} failed, {counts['skipped']} skipped")
    return 1 if counts["FAILED"] else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verl", help="a checkout of verl")
    parser.add_argument("--train", action="store_true", help="train two steps with TRL")
    OPTIONS = parser.parse_args()
    if OPTIONS.verl:
        sys.path.insert(0, os.path.abspath(OPTIONS.verl))
        stand_ins()
    sys.exit(main())
