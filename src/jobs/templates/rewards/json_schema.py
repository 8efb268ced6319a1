def make(params):
    def refuse(constant):
        raise ValueError(constant)

    def whole(text):
        # A whole number may be too large for a float there and not here.
        return float(text)

    def parse(text):
        return json.loads(text, parse_constant=refuse, parse_int=whole)

    def is_number(value):
        return isinstance(value, float)

    types = {
        "string": lambda value: isinstance(value, str),
        "number": is_number,
        "integer": lambda value: is_number(value) and value.is_integer(),
        "boolean": lambda value: isinstance(value, bool),
        "null": lambda value: value is None,
        "array": lambda value: isinstance(value, list),
        "object": lambda value: isinstance(value, dict),
    }
    sizes = {
        "minimum": (float, float, 1),
        "maximum": (float, float, -1),
        "minLength": (str, len, 1),
        "maxLength": (str, len, -1),
        "minItems": (list, len, 1),
        "maxItems": (list, len, -1),
    }

    def same(a, b):
        if isinstance(a, list):
            return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
        if isinstance(a, dict):
            return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
        return type(a) is type(b) and a == b

    def holds(schema, value):
        if isinstance(schema, bool):
            return schema
        return all(follows(schema, name, given, value) for name, given in schema.items())

    def follows(schema, name, given, value):
        if name == "type":
            return any(types[own](value) for own in (given if isinstance(given, list) else [given]))
        if name == "enum":
            return any(same(one, value) for one in given)
        if name == "const":
            return same(given, value)
        if name in sizes:
            kind, size, sign = sizes[name]
            return not isinstance(value, kind) or sign * size(value) >= sign * given
        if name == "items":
            return not isinstance(value, list) or all(holds(given, one) for one in value)
        if not isinstance(value, dict):
            return True
        if name == "properties":
            return all(holds(own, value[key]) for key, own in given.items() if key in value)
        if name == "required":
            return all(key in value for key in given)
        if name == "additionalProperties":
            known = schema.get("properties", {})
            return all(holds(given, own) for key, own in value.items() if key not in known)
        return True

    schema = parse(params["schema"])

    def score(source, response, truth, info):
        try:
            value = parse(response)
        except (ValueError, RecursionError):
            return 0.0
        return 1.0 if holds(schema, value) else 0.0

    return score
