# %% [markdown]
# # {{title}}
#
# {{trains}}
#
# - **Jupyter**: {{jupyter}}
# - **Colab**: {{colab}}
#
# {{missing}}

# %%
# Finds the folder of the job: here, or beside this notebook, or in a .zip that Colab asks for.
import os
import sys
import zipfile


def job_folder():
    folders = [".", *sorted(entry.path for entry in os.scandir(".") if entry.is_dir())]
    found = [folder for folder in folders if os.path.exists(os.path.join(folder, "train_trl.py"))]
    return os.path.abspath(found[0]) if found else None


FOLDER = job_folder()
if FOLDER is None:
    try:
        from google.colab import files
    except ImportError:
        raise FileNotFoundError("There is no train_trl.py here. Open this notebook in the folder of the job.") from None
    for name in files.upload():
        zipfile.ZipFile(name).extractall(".")
    FOLDER = job_folder()
    if FOLDER is None:
        raise FileNotFoundError("There is no train_trl.py in what was uploaded. Upload the .zip of the job.")
print(FOLDER)

# %%
# Installs what is missing.
import importlib.util
import subprocess
from importlib.metadata import PackageNotFoundError, version


def lacks_trl():
    try:
        return tuple(int(part) for part in version("trl").split(".")[:2]) < (1, 13)
    except PackageNotFoundError:
        return True


wanted = ["datasets", "pandas", "matplotlib", *(["peft"] if os.path.isdir(os.path.join(FOLDER, "adapter")) else [])]
missing = [*(["trl>=1.13"] if lacks_trl() else []), *(name for name in wanted if importlib.util.find_spec(name) is None)]
if missing:
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", *missing], check=True)
print("Installed:", ", ".join(missing) or "nothing was missing")

# %%
# Trains. A number of steps in place of None trains fewer, for a first look.
import runpy

STEPS = None

sys.path.insert(0, FOLDER)
sys.argv = ["train_trl.py", *([] if STEPS is None else ["--steps", str(STEPS)])]
script = runpy.run_path(os.path.join(FOLDER, "train_trl.py"), run_name="__main__")

# %%
# What TRL logged, a row for each step.
import json

import pandas as pd

with open(os.path.join(FOLDER, "trained", "trl_log.json")) as file:
    log = pd.DataFrame(json.load(file)).groupby("step").first()
log.tail()

# %%
# The curves that moved.
import matplotlib.pyplot as plt

NAMES = ["reward", "rewards/margins", "rewards/accuracies", "loss", "entropy", "kl", "grad_norm", "completions/mean_length"]
names = [name for name in NAMES if name in log and log[name].nunique() > 1]
figure, axes = plt.subplots(max(1, len(names)), 1, figsize=(8, 2.2 * max(1, len(names))), sharex=True, squeeze=False)
for name, (axis,) in zip(names, axes):
    log[name].dropna().plot(ax=axis, title=name)
    axis.set_xlabel("step")
figure.tight_layout()
plt.show()

# %% [markdown]
# {{ends}}
