# What runs in Pyodide beside a person's program in Python: it calls the program's function and makes plain JSON of what that returns.
# guest.js sets LONGEST_TEXT and MOST_ENTRIES before it runs this text.
import json, math, random
def _plain(value, depth=0):
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**53 else float(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
    if isinstance(value, str):
        return value if len(value) <= LONGEST_TEXT else value[:LONGEST_TEXT // 2] + value[-LONGEST_TEXT // 2:]
    if depth == 3:
        return "…"
    if isinstance(value, dict):
        return {str(name)[:100]: _plain(one, depth + 1) for name, one in list(value.items())[:MOST_ENTRIES]}
    if isinstance(value, (list, tuple)):
        return [_plain(one, depth + 1) for one in value[:MOST_ENTRIES]]
    if hasattr(value, "__float__"):
        return _plain(float(value), depth + 1)
    return "a " + type(value).__name__
def _begin(source, entry):
    global _run
    space = {"__name__": "program"}
    exec(compile(source, "program.py", "exec"), space)
    _run = space.get(entry)
    if not callable(_run):
        raise TypeError("the program defines no function " + entry)
def _call(text):
    random.seed(0)
    try:
        return json.dumps({"value": _plain(_run(**json.loads(text)))})
    except MemoryError:
        return json.dumps({"error": "out of memory"})
    except BaseException as error:
        return json.dumps({"error": (type(error).__name__ + ": " + str(error))[:2000]})
