STEPS = {"R": (0, 1), "D": (1, 0), "L": (0, -1), "U": (-1, 0)}


def arrives(maze, way):
    """Whether a way leads over free cells from the top left to the bottom right corner."""
    row = column = 0
    last = len(maze) - 1
    for step in way:
        if step not in STEPS:
            return False
        row, column = row + STEPS[step][0], column + STEPS[step][1]
        if not (0 <= row <= last and 0 <= column <= last) or maze[row][column] == "#":
            return False
    return row == column == last


def score(prompt, response, ground_truth):
    """1 for any way that is as short as the ground truth; X is the answer where there is none."""
    if ground_truth == "X" or len(response) != len(ground_truth):
        return 1.0 if response == ground_truth else 0.0
    return 1.0 if arrives(prompt[:-1].split("/"), response) else 0.0
