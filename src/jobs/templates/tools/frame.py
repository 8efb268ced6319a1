"""The tools of the lab for verl, which reads this file by rollout.multi_turn.function_tool_path.

Each answers as it does in the lab. What it raises is answered "Error executing tool '<name>': <message>", there as here.
"""

import importlib.util
import json
import math
import pathlib
import re

from verl.tools.function_tool import function_tool

# TOOLS


def register(schema, answer):
    @function_tool(schema["function"]["name"], schema=schema)
    def tool(**arguments):
        return answer(arguments)


# REGISTERED
