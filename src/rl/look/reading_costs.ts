// Measures the cost of an observation: the milliseconds of each of its parts until the numbers are
// there.
import type { Gpu } from '../../kernels/device/gpu.ts'
import type { Observation } from './observation.ts'

export type PartName = keyof Observation['cost_ms'] | 'tokens'

/** Numbers of one part on their way back. */
export interface Reading<T> {
  readonly name: PartName
  readonly arrays: Promise<T>
  readonly submittedMs: number
  /** When they arrived. */
  readonly doneMs: Promise<number>
}

const now = () => performance.now()

/** The stage of the GPU that a part is timed as. */
export const stageOf = (name: PartName): string => `observe_${name}`

/** When everything is done that was queued before: where stages are not timed, that work must not
 * count. */
export function endOfQueued(gpu: Gpu): Promise<number> {
  const end = gpu.finish().then(now)
  end.catch(() => {}) // what is read reports it
  return end
}

/** Submits the readback of a part. */
export function startReading<T>(name: PartName, read: () => Promise<T>): Reading<T> {
  const submittedMs = now()
  const arrays = read()
  const doneMs = arrays.then(now)
  doneMs.catch(() => {}) // `arrays` reports it
  return { name, arrays, submittedMs, doneMs }
}

/** Milliseconds of each part: of the GPU where its stages are timed, else from its submission, or
 * the end of what was submitted before it, until its numbers were there. Call it once all parts are
 * submitted. */
export async function readingCosts(
  gpu: Gpu,
  before: Promise<number>,
  readings: readonly Reading<unknown>[],
): Promise<Partial<Record<PartName, number>>> {
  const stages = gpu.resolveStages()
  const stamps = stages && gpu.read(stages.stamps)
  stamps?.catch(() => {}) // what was read before reports it
  const done = await Promise.all([before, ...readings.map(({ doneMs }) => doneMs)])
  const [stamped] = (await stamps) ?? []
  const seconds = stages && stamped ? stages.timesOf(stamped) : {}
  const costs = readings.map(({ name, submittedMs }, i) => {
    const gpuSeconds = seconds[stageOf(name)]
    const waitedMs = done[i + 1] - Math.max(submittedMs, done[i])
    return [name, gpuSeconds === undefined ? waitedMs : 1000 * gpuSeconds] as const
  })
  return Object.fromEntries(costs)
}
