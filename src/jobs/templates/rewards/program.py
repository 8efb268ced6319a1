import importlib.util
import inspect
import pathlib


def make(params):
    path = pathlib.Path(__file__).with_name(params["file"])
    spec = importlib.util.spec_from_file_location(path.stem, path)
    program = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = program
    spec.loader.exec_module(program)
    function = getattr(program, params["function"])
    parameters = list(inspect.signature(function).parameters.values())
    takes_any = any(one.kind is one.VAR_KEYWORD for one in parameters)

    def score(source, response, truth, info):
        values = {"data_source": source, "solution_str": response, "ground_truth": truth, "extra_info": info}
        named = {one.name: one.name for one in parameters if one.name in values}
        for one in parameters:
            named.setdefault(params["names"].get(one.name), one.name)
        given = {named.get(key, key): value for key, value in values.items() if key in named or takes_any}
        returned = function(**given)
        return returned[0] if isinstance(returned, (list, tuple)) else returned

    return score
