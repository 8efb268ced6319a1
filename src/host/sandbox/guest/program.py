# What runs in Pyodide beside a person's program in Python: it imports the program, calls its function and makes plain JSON of what that
# returns. guest.js sets LONGEST_TEXT, MOST_ENTRIES and OFFERED before it runs this text; forms.py and stand_ins.py follow it.
import ast, importlib.util, inspect, json, math, random, sys, traceback, types

# The name of the module, as verl gives it to the file of a reward.
_MODULE = "custom_module"
_space, _chosen, _batch, _rows, _answers = None, None, None, [], []


def _plain(value, depth=0):
    """A value as JSON of a bounded size. Numbers of NumPy, fractions and decimals are numbers."""
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return int(value) if abs(value) < 2**53 else float(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
    if isinstance(value, str):
        return value if len(value) <= LONGEST_TEXT else value[: LONGEST_TEXT // 2] + value[-LONGEST_TEXT // 2 :]
    if depth == 3:
        return "…"
    if isinstance(value, dict):
        return {str(name)[:100]: _plain(one, depth + 1) for name, one in list(value.items())[:MOST_ENTRIES]}
    if isinstance(value, (list, tuple)):
        return [_plain(one, depth + 1) for one in value[:MOST_ENTRIES]]
    if hasattr(value, "__float__"):
        return _plain(float(value), depth + 1)
    return "a " + type(value).__name__


class _Refused(Exception):
    """What the harness itself says: a sentence with its place."""


def _hint(error):
    """What the sandbox has to do with an error."""
    text = str(error)
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f". {_offer(error.name.split('.')[0])}"
    if "does not support processes" in text or "_multiprocessing" in text:
        return " (a program starts no processes)"
    if isinstance(error, (FileNotFoundError, PermissionError)):
        return " (a program reads no files: put what it needs into its text)"
    if isinstance(error, ConnectionError) or type(error).__name__ in ("URLError", "gaierror", "JsException"):
        return " (a program has no network)"
    return ""


def _said(error, name):
    """An error with the file and the line of the program where it happened."""
    if isinstance(error, _Refused):
        said = str(error)
        return said if said.startswith(name) else f"{name}: {said}"
    if isinstance(error, MemoryError):
        return "out of memory"
    line = error.lineno if isinstance(error, SyntaxError) else None
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == name:
            line = frame.lineno
    place = "" if line is None else f"{name}, line {line}: "
    what = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{place}{type(error).__name__}: {what}{_hint(error)}"[:2000]


def _imports(tree):
    """Every module that a program imports, (name, line, whether it can do without); names of its own folder begin with a dot."""
    catches = ("ImportError", "ModuleNotFoundError", "Exception", "BaseException")
    found = []

    def is_caught(handler):
        kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        return any(kind is None or getattr(kind, "id", "") in catches for kind in kinds)

    def visit(node, is_optional):
        if isinstance(node, ast.Import):
            found.extend((one.name.split(".")[0], node.lineno, is_optional) for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.append(("." * node.level + (node.module or "").split(".")[0], node.lineno, is_optional))
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called in ("import_module", "__import__") and isinstance(node.args[0].value, str):
                found.append((node.args[0].value.split(".")[0], node.lineno, is_optional))
        if isinstance(node, ast.Try) and any(is_caught(one) for one in node.handlers):
            for one in node.body:
                visit(one, True)
            for one in [*node.handlers, *node.orelse, *node.finalbody]:
                visit(one, is_optional)
        elif isinstance(node, ast.If) and any(mark in ast.dump(node.test) for mark in ("TYPE_CHECKING", "'__main__'")):
            for one in node.orelse:
                visit(one, is_optional)
        else:
            for one in ast.iter_child_nodes(node):
                visit(one, is_optional)

    visit(tree, False)
    return found


def _offer(name):
    """What can be done about a module that is not here."""
    if name in OFFERED["fetched_later"]:
        return f"It can be added: npm run python-modules ({OFFERED['fetched_later'][name]})"
    there = ", ".join(OFFERED["there"]) or "none"
    advice = "; return numbers in place of tensors" if name in ("torch", "tensorflow", "jax") else ""
    return (
        f"The sandbox has Python's standard library, and of other modules: {there}. "
        f"Do without {name}, or put what you need of it into the program{advice}"
    )


def _refuse_missing(tree, name):
    for module, line, is_optional in _imports(tree):
        if is_optional:
            continue
        if module.startswith("."):
            raise _Refused(
                f"{name}, line {line}: it imports {module}, a file beside it; a program is one file, so put what it needs of that into it"
            )
        if module in sys.modules or importlib.util.find_spec(module) is not None:
            continue
        raise _Refused(f"{name}, line {line}: it imports {module}, which is not here. {_offer(module)}")


def _load(source, name):
    """Runs the program's text as a module of its own. Dataclasses look for theirs in sys.modules."""
    tree = ast.parse(source, name)
    _refuse_missing(tree, name)
    module = types.ModuleType(_MODULE)
    module.__file__ = name
    sys.modules[_MODULE] = module
    exec(compile(tree, name, "exec", dont_inherit=True), module.__dict__)
    return module.__dict__


def _repeat():
    """Chance is the same in every call."""
    random.seed(0)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)


def _begin(source, name, entry):
    """Begins a batch. Whether the function wants all of it at once; then `_take` gets its rows."""
    global _space, _chosen, _batch
    _space, _chosen, _batch = None, None, None
    _repeat()
    try:
        _space = _load(source, name)
        if entry == "?":
            return json.dumps({"value": False})
        _chosen = _choose(_space, name, entry)
        _batch = BATCH_FORMS.get(_chosen[1])
    except BaseException as error:
        return json.dumps({"error": _said(error, name)})
    return json.dumps({"value": _batch is not None})


def _take(text):
    global _rows, _answers
    _rows, _answers = json.loads(text), []


def _call(text, name, entry):
    global _answers
    _repeat()
    try:
        if entry == "?":
            return json.dumps({"value": _report(_space, name)})
        if _batch is None:
            return json.dumps({"value": _plain(_one(_chosen, json.loads(text)))})
        if _rows:
            rows, _rows[:] = list(_rows), []
            try:
                _answers = [{"value": one} for one in _batch(_chosen[0], rows)]
            except BaseException as error:
                _answers = [{"error": _said(error, name)} for _ in rows]
        return json.dumps(_answers.pop(0))
    except BaseException as error:
        return json.dumps({"error": _said(error, name)})
