// Finds the steps of entries that carry none: transformers prints its dicts without a step, but a
// progress bar beside them shows it.

/** `2/6` of a progress bar of tqdm: ` 33%|███▎      | 2/6 [00:02<00:05,  1.02s/it]`. */
const BAR = /(?<![\d/.])(\d+)\/(\d+) \[\d+:\d\d/g

/** Where a bar stood. */
export interface Bar {
  readonly step: number
  readonly total: number
}

/** The bars in a text, in order. */
export const barsIn = (text: string): Bar[] =>
  [...text.matchAll(BAR)].map(([, step, total]) => ({ step: Number(step), total: Number(total) }))

/** An entry of a console, and the bars that were printed since the entry before it. */
export interface Printed {
  readonly metrics: Readonly<Record<string, unknown>>
  readonly bars: readonly Bar[]
  /** Its own step, where it has one. */
  readonly own: number | undefined
}

/** An evaluation is of the step before it, and a summary of the whole run. */
const isTraining = ({ metrics }: Printed): boolean =>
  !Object.keys(metrics).some((name) => /^(eval|test|predict)_|^train_/.test(name)) ||
  Object.hasOwn(metrics, 'loss')

/** How the steps were found. */
export type StepSource = 'own' | 'bar' | 'logging_steps' | 'counted'

export interface FoundSteps {
  readonly steps: readonly number[]
  readonly from: StepSource
}

/** The total of the bar that stands beside most entries: other bars are of evaluations and of data
 * sets. */
function mainTotal(gaps: readonly (readonly Bar[])[]): number | undefined {
  const counts = new Map<number, number>()
  for (const gap of gaps)
    for (const total of new Set(gap.map(({ total }) => total)))
      counts.set(total, (counts.get(total) ?? 0) + 1)
  return [...counts].sort(([a, x], [b, y]) => y - x || b - a)[0]?.[0]
}

type Candidate = readonly (number | undefined)[]

/** Whether every training entry has a step of its own; a resumed run may go back. */
function isUsable(steps: Candidate, training: readonly boolean[]): boolean {
  const own = steps.filter((_, i) => training[i])
  return own.every((step, i) => step !== undefined && step > 0 && step !== own[i - 1])
}

/** How far epochs are from being proportional to steps: 0 where they are. */
function disorder(steps: Candidate, entries: readonly Printed[]): number {
  const ratios = entries.flatMap(({ metrics }, i) => {
    const epoch = Number(metrics.epoch)
    return epoch > 0 && isTraining(entries[i]) ? [(steps[i] ?? 0) / epoch] : []
  })
  if (ratios.length < 2) return 0
  const mean = ratios.reduce((sum, one) => sum + one, 0) / ratios.length
  return Math.max(...ratios.map((one) => Math.abs(one / mean - 1)))
}

/** `tail`: the bars after the last entry. */
export function findSteps(
  entries: readonly Printed[],
  tail: readonly Bar[],
  loggingSteps: number | undefined,
): FoundSteps {
  const training = entries.map(isTraining)
  const filled = (steps: Candidate): number[] => {
    let last = 0
    return steps.map((step, i) => {
      if (training[i] || (step !== undefined && step >= last)) last = step ?? last
      return last
    })
  }
  if (entries.some(({ own }, i) => training[i] && own !== undefined))
    return { steps: filled(entries.map(({ own }) => own)), from: 'own' }
  const gaps = [...entries.map(({ bars }) => bars), tail]
  const total = mainTotal(gaps)
  const main = gaps.map((gap) => gap.filter((bar) => bar.total === total))
  // tqdm draws its bar again below what it prints, so the bar after an entry is exact and the one
  // before it may be late.
  const after = entries.map(
    (_, i) => main[i + 1][0]?.step ?? (i === entries.length - 1 ? lastOf(main, i) : undefined),
  )
  const before = entries.map((_, i) => lastOf(main, i))
  const usable = [after, before].filter((steps) => isUsable(steps, training))
  const [first, second] = usable
  if (first) {
    const isSecond =
      second !== undefined && disorder(second, entries) < disorder(first, entries) - 1e-3
    const chosen = isSecond ? second : first
    // Bars below an evaluation are of later steps.
    const steps = chosen.map((step, i) => (training[i] ? step : before[i]))
    return { steps: filled(steps), from: 'bar' }
  }
  let count = 0
  const counted = entries.map((_, i) => (training[i] ? ++count * (loggingSteps ?? 1) : undefined))
  return { steps: filled(counted), from: loggingSteps === undefined ? 'counted' : 'logging_steps' }
}

/** The last bar at or before a gap. */
function lastOf(gaps: readonly (readonly Bar[])[], at: number): number | undefined {
  for (let i = at; i >= 0; i--) {
    const bar = gaps[i].at(-1)
    if (bar) return bar.step
  }
  return undefined
}
