// Measures, after a validation, what each part of the policy does: where that is asked for, and as
// often as its share of the run's work allows.
import type { Observation } from '../../look/observation.ts'
import { make } from '../../look/observed_parts.ts'
import { LiveParts } from '../touched/answers/live_parts.ts'
import type { Training } from './training.ts'

/** Frees what measuring takes. */
export function freeParts(training: Training): void {
  training.liveParts?.part?.free()
  training.liveParts = undefined
}

/** Undefined where it is not measured now; `refused` says why it never is. */
export async function measureParts(
  training: Training,
): Promise<Pick<Observation, 'parts' | 'refused'> | undefined> {
  const { gpu, config, observer, parts, progress } = training
  if (!observer.asksParts) return undefined
  training.liveParts ??= await make(() =>
    LiveParts.create(gpu, config, parts.actor.tensors.model, parts.actor.size.batchRows),
  )
  const { part: live } = training.liveParts
  if (!live) return { refused: `parts: ${training.liveParts.refused}` }
  const { step, phase_step, current } = progress
  const planned = config.phases.reduce((sum, { steps }) => sum + steps, 0)
  const isEnd = phase_step === current.steps
  if (!observer.takesParts({ steps: step, planned }, isEnd, live.dispatches)) return undefined
  const before = gpu.counts.dispatches
  gpu.stage('testing')
  const costs = await live.measure()
  observer.tookParts(gpu.counts.dispatches - before)
  return { parts: costs }
}
