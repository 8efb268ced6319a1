// Describes somebody's result that came with a link, as the page shows it. Reading it from the link
// is loaded where a link has one (summary.ts).

/** The held-out accuracy of the experiment's task, whatever that is. */
export const GREEDY_ACCURACY = 'val-aux/acc/greedy'

/** What the experiment's page tells a run by, where that is not the accuracy. Older links
 * lack it. */
export const MAIN_MEASURE = 'val-aux/main'

export interface SharedLine {
  /** A metric's name; GREEDY_ACCURACY and MAIN_MEASURE stand for the experiment's own. */
  readonly name: string
  /** Ascending. */
  readonly steps: readonly number[]
  /** NaN where there is none. */
  readonly values: readonly number[]
}

export interface SharedResult {
  readonly adapter: string
  /** Steps that the run had taken. */
  readonly steps: number
  readonly lines: readonly SharedLine[]
}

/** The metric that a shared line is of, for an experiment with this task that is told by `main`. */
export const metricOf = (name: string, taskId: string, main: string): string =>
  name === MAIN_MEASURE ? main : name === GREEDY_ACCURACY ? `val-aux/${taskId}/acc/greedy` : name

/** The last value of a line; undefined where there is none. */
export const lastOf = ({ lines }: SharedResult, name: string): number | undefined =>
  lines.find((line) => line.name === name)?.values.findLast(Number.isFinite)

/** The lines of the entropies of layers 0 … `last`; undefined where one of them is not told. */
export function layersOf({ lines }: SharedResult, last: number): readonly SharedLine[] | undefined {
  const told = Array.from({ length: last + 1 }, (_, layer) =>
    lines.find(({ name }) => name === `layer/entropy/${layer}`),
  )
  return told.every((line) => line !== undefined) ? told : undefined
}
