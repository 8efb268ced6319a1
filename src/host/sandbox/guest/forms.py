# How a function of a program is called, by its own signature: as verl calls compute_score, for a batch or for one response, as TRL calls
# reward functions, as OpenRLHF calls reward_func; and what a tool's `execute` is called with.

# What verl hands to compute_score; VERL_NAMES has the names that other files give to the same.
VERL = ("data_source", "solution_str", "ground_truth", "extra_info")
VERL_BATCH = {"data_sources": "data_source", "solution_strs": "solution_str", "ground_truths": "ground_truth", "extra_infos": "extra_info"}
OPENRLHF = ("queries", "prompts", "labels")
# Columns that a generated problem has: it has no names of its own for its right answer.
ANSWER_COLUMNS = ("answer", "solution", "label", "target", "final_answer")
# The functions that verl and OpenRLHF look for.
USUAL = {"verl": "compute_score", "verl_batch": "compute_score", "openrlhf": "reward_func"}


def _parameters(function):
    """Names, those without a default, whether it takes any other name; undefined for what has no signature."""
    try:
        all_of = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    plain = [one for one in all_of if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    names = [one.name for one in plain]
    needed = [one.name for one in plain if one.default is one.empty]
    positional = {one.name for one in plain if one.kind is one.POSITIONAL_ONLY}
    return names, needed, any(one.kind is one.VAR_KEYWORD for one in all_of), positional


def _verl_names(names):
    """Which of verl's arguments each parameter is; None for one that is none of them, or that another one is by its own name."""
    found = {name: name for name in names if name in VERL}
    for name in names:
        own = VERL_NAMES.get(name)
        found.setdefault(name, None if own in found.values() else own)
    return found


def _form(function, name=""):
    """(form, why it cannot be called so) of a function; no form for one that is no reward."""
    read = _parameters(function)
    if read is None:
        return None, "its parameters cannot be read"
    names, needed, takes_any, _ = read
    if "queries" in names:
        unknown = [one for one in needed if one not in OPENRLHF]
        return "openrlhf", _unknown(unknown, "queries, prompts and labels")
    if "solution_strs" in names:
        unknown = [one for one in needed if one not in VERL_BATCH]
        return "verl_batch", _unknown(unknown, ", ".join(VERL_BATCH))
    if "completions" in names or "completion_ids" in names:
        # Any other name is a column, which is known with the rows.
        return "trl", None
    own = _verl_names(names)
    if "solution_str" in own.values():
        unknown = [one for one in needed if own[one] is None]
        return "verl", _unknown(unknown, ", ".join(VERL))
    if name == "compute_score" and takes_any and not needed:
        return "verl", None
    return None, f"expected a function of {', '.join(VERL)}; of prompts and completions; or of queries, prompts and labels"


def _unknown(names, known):
    return f"it asks for {', '.join(names)}, and is given {known}" if names else None


def _functions(space):
    """The functions that a program defines itself and does not call private, by name."""
    found = {}
    for name, value in space.items():
        if name.startswith("_") or not callable(value) or inspect.isclass(value) or inspect.ismodule(value):
            continue
        home = getattr(value, "__module__", _MODULE)
        if inspect.isfunction(value) or inspect.isbuiltin(value):
            if home == _MODULE:
                found[name] = value
        elif hasattr(value, "func") or type(value).__module__ == _MODULE or hasattr(value, "__wrapped__"):
            found[name] = value
    return found


def _mentioned(code, found):
    found.update(code.co_names)
    for one in code.co_consts:
        if inspect.iscode(one):
            _mentioned(one, found)
    return found


def _rewards(space):
    """[name, function, form, why not] of each function, without what other rewards of the file call to help themselves."""
    read = [(name, function, *_form(function, name)) for name, function in _functions(space).items()]
    ready = [one for one in read if one[2] and not one[3]]
    helpers = set()
    for name, function, *_ in ready:
        code = getattr(inspect.unwrap(function), "__code__", None)
        if code:
            helpers |= _mentioned(code, set()) - {name}
    return read, [one for one in ready if one[0] not in helpers]


def _shown(name, function):
    try:
        return f"{name}{inspect.signature(function)}".replace("\n", " ")[:120]
    except (TypeError, ValueError):
        return name


def _proposed(space):
    """The rewards that a file means by itself: the one that has verl's or OpenRLHF's name, else all of TRL's form."""
    read, ready = _rewards(space)
    for name, function, form, why in read:
        if name in ("compute_score", "reward_func") and form and USUAL.get(form, name) == name and not why:
            return [(name, function, form, why)]
    return [one for one in ready if one[2] == "trl"]


def _report(space, name):
    """What the functions of a file are, and which are meant: for a menu, and for a refusal."""
    read, ready = _rewards(space)
    names = {one[0] for one in ready}
    broken = next((one for one in read if one[0] == "compute_score" and one[3]), None)
    return {
        "functions": [
            {"name": one[0], "shown": _shown(one[0], one[1]), "form": one[2] or "", "is_reward": one[0] in names}
            for one in read[:MOST_ENTRIES]
        ],
        "chosen": [one[0] for one in _proposed(space)],
        "problem": f"{name}: compute_score: {broken[3]}" if broken else "",
    }


def _choose(space, name, entry):
    """(function, form) that is called. Raises for a name that is not there, and where there are several."""
    if entry == "execute":
        function = space.get(entry)
        if not callable(function):
            raise _Refused(f"{name}: expected a function execute, found none")
        return function, "tool"
    if entry:
        function = space.get(entry)
        known = ", ".join(_functions(space)) or "none"
        if not callable(function):
            raise _Refused(f"{name}: expected a function {entry}, found {known}")
        form, why = _form(function, "compute_score")
        if why or not form:
            raise _Refused(f"{name}: {entry}: {why}")
        return function, form
    chosen = _proposed(space)
    if len(chosen) == 1:
        return chosen[0][1], chosen[0][2]
    broken = _report(space, name)["problem"]
    shown = ", ".join(_shown(key, value) for key, value in _functions(space).items()) or "none"
    raise _Refused(broken or f"{name}: expected a function compute_score, found {shown}; name the one that scores")


def _given(function, values, rest):
    """Calls a function with the values that it has names for, and with the rest where it takes any name."""
    names, _, takes_any, positional = _parameters(function)
    named = {key: value for key, value in values.items() if key in names}
    if takes_any:
        named.update({key: value for key, value in rest.items() if key not in named})
    first = [named.pop(key) for key in names if key in positional and key in named]
    return _settled(function(*first, **named))


def _one(chosen, row):
    """One response, as verl calls compute_score; or one call of a tool."""
    function, form = chosen
    if form == "tool":
        return _settled(function(**row))
    values = {key: row.get(key) for key in VERL}
    own = _verl_names(_parameters(function)[0])
    named = {name: values[key] for name, key in own.items() if key}
    rest = {key: value for key, value in values.items() if key not in own.values()}
    return _counted(_given(function, named, rest))


def _counted(value):
    """One score of verl's form: of several values the first one, as verl takes it."""
    if isinstance(value, (list, tuple)) and value:
        value = value[0]
    if value is None or (isinstance(value, dict) and "score" in value and value["score"] is None):
        raise _Refused("it returned None; expected a number, or a dictionary with score")
    return value


def _list(values, count, what):
    if hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, (int, float)) and count == 1:
        values = [values]
    if not isinstance(values, (list, tuple)):
        raise _Refused(f"expected a list of {what}, one for each of {count} responses, got {_plain(values)!r}"[:300])
    if len(values) != count:
        raise _Refused(f"expected {count} {what}, one for each response, got {len(values)}")
    return list(values)


def _verl_batch(function, rows):
    values = {key: [row.get(own) for row in rows] for key, own in VERL_BATCH.items()}
    scores = _list(_given(function, values, values), len(rows), "scores")
    return [_plain(_counted(one)) for one in scores]


def _openrlhf(function, rows):
    """Queries are prompts and responses as one text. A dictionary has rewards, and what else is to be seen of them."""
    prompts = [row["extra_info"]["prompt"] for row in rows]
    queries = [prompt + row["solution_str"] for prompt, row in zip(prompts, rows)]
    values = {"queries": queries, "prompts": prompts, "labels": [row["ground_truth"] for row in rows]}
    made = _given(function, values, values)
    if not isinstance(made, dict):
        return [_plain(_counted(one)) for one in _list(made, len(rows), "rewards")]
    if "rewards" not in made:
        raise _Refused(f"expected a dictionary with rewards, got one with {', '.join(map(str, made)) or 'nothing'}")
    logs = {**(made.get("extra_logs") or {}), **({"scores": made["scores"]} if made.get("scores") is not None else {})}
    columns = {key: _list(one, len(rows), f"numbers of {key}") for key, one in logs.items()}
    rewards = _list(made["rewards"], len(rows), "rewards")
    return [
        _plain({**{key: column[i] for key, column in columns.items()}, "score": _counted(reward)})
        for i, reward in enumerate(rewards)
    ]


class _NoState:
    """TRL's trainer_state: a program may take it, but the lab does not tell a reward the step."""

    def __getattr__(self, name):
        raise AttributeError(f"trainer_state.{name} is not here: a score may not depend on the step")


def _columns(rows):
    """Every column by its name; generated problems have their right answer under the usual names."""
    shared = {key: [row.get(key) for row in rows] for key in ("data_source", "ground_truth", "extra_info")}
    own = [row.get("columns") for row in rows]
    if any(one is None for one in own):
        return {**{key: shared["ground_truth"] for key in ANSWER_COLUMNS}, **shared}
    names = dict.fromkeys(key for one in own for key in one if key not in ("prompt", "completion", "completion_ids"))
    return {**shared, **{key: [one.get(key) for one in own] for key in names}}


def _trl(function, rows):
    """None = the function does not count for that response."""
    logs = {}
    is_chat = all(row.get("messages") for row in rows)
    texts = [row["solution_str"] for row in rows]
    values = {
        **_columns(rows),
        "prompts": [row["messages"] if is_chat else row["extra_info"]["prompt"] for row in rows],
        "completions": [[{"role": "assistant", "content": text}] if is_chat else text for text in texts],
        "completion_ids": [row.get("completion_ids", []) for row in rows],
        "trainer_state": _NoState(),
        "log_extra": logs.__setitem__,
        "log_metric": logs.__setitem__,
    }
    needed = _parameters(function)[1]
    unknown = [name for name in needed if name not in values]
    if unknown:
        raise _Refused(f"it asks for the column {', '.join(unknown)}; the rows have {', '.join(_columns(rows))}")
    scores = _list(_given(function, values, values), len(rows), "rewards")
    extras = {key: one if isinstance(one, (list, tuple)) and len(one) == len(rows) else [one] * len(rows) for key, one in logs.items()}
    return [_plain({**{key: column[i] for key, column in extras.items()}, "score": score}) for i, score in enumerate(scores)]


BATCH_FORMS = {"verl_batch": _verl_batch, "openrlhf": _openrlhf, "trl": _trl}
