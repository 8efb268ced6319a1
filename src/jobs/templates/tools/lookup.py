def answer(arguments):
    key = arguments.get("key")
    facts = json.loads(FACTS)
    if not isinstance(key, str) or key.strip().lower() not in facts:
        raise ValueError("the table has no such key")
    return facts[key.strip().lower()]
