// Gives a profiled step the times of its stages: while it is profiled, its own clock stands still.
import type { Profile } from '../../../kernels/device/timing/profiler.ts'
import type { StepResult } from '../../../rl/train/parts/step_result.ts'

/** What is measured beside a step, or belongs to no stage of it: no step counts it as its time. */
const BESIDE = /^(observe_.*|testing|other)$/

/** The result with `timing_s/<stage>` of its profile; as it was where the GPU's clock is not
 * shown, as no other step of such a run has them. */
export function withProfiledTimes(result: StepResult, { source, stages }: Profile): StepResult {
  if (source !== 'timestamps') return result
  const times = stages
    .filter(({ name, time_ms }) => time_ms !== undefined && !BESIDE.test(name))
    .map(({ name, time_ms = 0 }) => [`timing_s/${name}`, time_ms / 1000])
  return { ...result, metrics: { ...result.metrics, ...Object.fromEntries(times) } }
}
