import importlib.util
import pathlib


def make(params):
    path = pathlib.Path(__file__).with_name(params["file"])
    spec = importlib.util.spec_from_file_location(path.stem, path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)

    def score(source, response, truth, info):
        return program.compute_score(data_source=source, solution_str=response, ground_truth=truth, extra_info=info)

    return score
