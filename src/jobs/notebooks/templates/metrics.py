# %% [markdown]
# # {{title}}
#
# {{about}}
#
# `metrics.csv` has a row for each step and a column for each metric, under verl's names. On Colab the first cell asks for that file.

# %%
import os

import matplotlib.pyplot as plt
import pandas as pd

if not os.path.exists("metrics.csv"):
    try:
        from google.colab import files
    except ImportError:
        raise FileNotFoundError("There is no metrics.csv here. Open this notebook in the folder of metrics.csv.") from None
    files.upload()
    if not os.path.exists("metrics.csv"):
        raise FileNotFoundError("There is no metrics.csv in what was uploaded.")
metrics = pd.read_csv("metrics.csv", index_col="step")
print(f"{metrics.index.max()} steps, {len(metrics.columns)} metrics")
metrics.tail()

# %%
# What was measured, with the first and the last value of each metric.
values = {name: column.dropna() for name, column in metrics.items() if column.count() > 0}
pd.DataFrame(
    {
        name: {"measured": len(column), "first": column.iloc[0], "last": column.iloc[-1], "lowest": column.min(), "highest": column.max()}
        for name, column in values.items()
    }
).T

# %%
# The curves. Change the table to draw others: a title, and the metrics under it.
CHARTS = {{charts}}
SMOOTH = 1  # steps of a moving average

figure, axes = plt.subplots(len(CHARTS), 1, figsize=(8, 2.4 * len(CHARTS)), sharex=True, squeeze=False)
for (title, names), (axis,) in zip(CHARTS.items(), axes):
    for name in names:
        curve = metrics[name].dropna().rolling(SMOOTH, min_periods=1).mean()
        curve.plot(ax=axis, label=name, marker="." if len(curve) < 20 else "")
    axis.set_title(title)
    axis.set_xlabel("step")
    axis.legend(fontsize="small")
figure.tight_layout()
plt.show()
