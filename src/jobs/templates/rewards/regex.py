def make(params):
    """`code` is the pattern as instructions, all ways through which are followed at once: no pattern can take long."""
    code, is_anchored = params["code"], params["whole"]

    def is_word(point):
        return point is not None and (48 <= point <= 57 or 65 <= point <= 90 or point == 95 or 97 <= point <= 122)

    def score(source, response, truth, info):
        points = [ord(sign) for sign in response]
        present = []
        for at in range(len(points) + 1):
            before = points[at - 1] if at > 0 else None
            point = points[at] if at < len(points) else None
            is_boundary = is_word(before) != is_word(point)
            holds = {"start": at == 0, "end": point is None, "word": is_boundary, "not_word": not is_boundary}
            following = []
            open_places = list(present) + ([0] if at == 0 or not is_anchored else [])
            seen = set()
            while open_places:
                place = open_places.pop()
                if place in seen:
                    continue
                seen.add(place)
                kind, *rest = code[place]
                if kind == "match":
                    if not is_anchored or point is None:
                        return 1.0
                elif kind in ("split", "jump"):
                    open_places.extend(rest)
                elif kind == "chars":
                    if point is not None and any(first <= point <= last for first, last in rest[0]):
                        following.append(place + 1)
                elif holds[kind]:
                    open_places.append(place + 1)
            present = following
        return 0.0

    return score
