// Labels at the ends of lines: each beside its line, or as near to it as the others leave room.

/** The tops of labels of one height whose lines end at `ys` (undefined: no label), in 0 … height; none where they do not fit. */
export function placeLabels(
  ys: readonly (number | undefined)[],
  label_height: number,
  height: number,
): (number | undefined)[] {
  const placed = ys.flatMap((y, i) => (y === undefined ? [] : [{ i, top: y - label_height / 2 }]))
  if (placed.length * label_height > height) return ys.map(() => undefined)
  placed.sort((a, b) => a.top - b.top)
  let above = 0
  for (const label of placed) {
    label.top = Math.max(label.top, above)
    above = label.top + label_height
  }
  let below = height
  for (const label of placed.toReversed()) {
    label.top = Math.min(label.top, below - label_height)
    below = label.top
  }
  const tops = new Map(placed.map(({ i, top }) => [i, top]))
  return ys.map((_, i) => tops.get(i))
}
