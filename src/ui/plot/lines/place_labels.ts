// Places the names of lines in the gutter right of the plot: never on a line or on another name,
// each as near to the end of its line as the others leave room, with a stroke from that end.

/** The tops of labels of one height whose lines end at `ys` (undefined: no label), in 0 … height;
 * none where they do not fit. */
function placeLabels(
  ys: readonly (number | undefined)[],
  labelHeight: number,
  height: number,
): (number | undefined)[] {
  const placed = ys.flatMap((y, i) => (y === undefined ? [] : [{ i, top: y - labelHeight / 2 }]))
  if (placed.length * labelHeight > height) return ys.map(() => undefined)
  placed.sort((a, b) => a.top - b.top)
  let above = 0
  for (const label of placed) {
    label.top = Math.max(label.top, above)
    above = label.top + labelHeight
  }
  let below = height
  for (const label of placed.toReversed()) {
    label.top = Math.min(label.top, below - labelHeight)
    below = label.top
  }
  const tops = new Map(placed.map(({ i, top }) => [i, top]))
  return ys.map((_, i) => tops.get(i))
}

/** Pixels between the plot and the names: room for the strokes. */
export const STROKES = 14

/** Pixels from the edge of the plot within which the end of a line is joined to its name. Further
 * off a stroke would look like steps that were measured. */
const NEAR_EDGE = 12

interface Place {
  readonly x: number
  readonly y: number
}

export interface GutterLabel {
  readonly left: number
  readonly top: number
  /** From the end of a line that ends near the edge of the plot, else from the edge at its height,
   * to the name. */
  readonly stroke: readonly Place[]
  /** Where a line ends further off: from its end to the edge. It is to be drawn otherwise than
   * lines. */
  readonly leader?: readonly Place[]
}

/** Where names of one height lie whose lines end at `ends` in a plot of this size; undefined where
 * a line has no end or no name fits. */
export function gutterLabels(
  ends: readonly (Place | undefined)[],
  labelHeight: number,
  { width, height }: { readonly width: number; readonly height: number },
): (GutterLabel | undefined)[] {
  // What lies outside an axis that was cut is pointed at from the edge.
  const ys = ends.map((end) => end && Math.min(height, Math.max(0, end.y)))
  const tops = placeLabels(ys, labelHeight, height)
  return ends.map((end, i) => {
    const [y, top] = [ys[i], tops[i]]
    if (end === undefined || y === undefined || top === undefined) return undefined
    const isFar = width - end.x > NEAR_EDGE
    const stroke = [
      { x: isFar ? width + 2 : Math.min(end.x, width) + 1, y },
      { x: width + 2, y },
      { x: width + STROKES - 3, y: top + labelHeight / 2 },
    ]
    const name = { left: width + STROKES, top, stroke }
    return isFar ? { ...name, leader: [{ x: end.x, y }, stroke[0]] } : name
  })
}
