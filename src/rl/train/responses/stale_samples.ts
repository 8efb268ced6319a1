// Keeps samples of an earlier policy: responses wait in a queue until the step that trains on them.
// Batch i of a phase is sampled k steps before step i, the first k + 1 of them by the policy that
// the phase begins with, as verl's one_step_off_policy does for k = 1. Prompts and random numbers
// of a batch are those that it has without staleness, so only the policy differs.
import { joined } from '../../experience/batch.ts'
import { sampleFiltered } from './filtered_groups.ts'
import {
  meanEntropy,
  rowSamples,
  type Sampled,
  type SamplingParts,
  type SamplingRequest,
  sampleBatch,
} from './sampled.ts'

/** Responses that wait, and their prompts. */
export interface StaleBatch
  extends Pick<
    Sampled,
    'places' | 'response_ids' | 'log_probs' | 'entropy' | 'baselines' | 'metrics'
  > {
  /** The step that trains on them. */
  readonly due: number
  /** The step before which they were sampled. */
  readonly sampled_at: number
}

/** One batch by the policy as it is. */
export const sampleNow = (parts: SamplingParts, request: SamplingRequest): Promise<Sampled> =>
  request.phase.algorithm.filter_groups.enable
    ? sampleFiltered(parts, request)
    : sampleBatch(parts, request)

/** Whether a batch has the size that a phase trains on now. */
const fits = ({ places, response_ids }: StaleBatch, { phase: { rollout } }: SamplingRequest) =>
  places.length === rollout.train_batch_size &&
  response_ids.length === places.length * rollout.n * rollout.max_response_length

/** Samples what later steps of the phase train on, and gives the batch that this step trains on,
 * with the batches that go on waiting. */
export async function sampleStale(
  parts: SamplingParts,
  request: SamplingRequest,
  waiting: readonly StaleBatch[],
): Promise<{ readonly sampled: Sampled; readonly waiting: readonly StaleBatch[] }> {
  const { phase, step, lastStep = step } = request
  const { staleness = 0, stale_fraction = 1 } = phase.rollout
  const queue = waiting.filter((batch) => batch.due >= step && fits(batch, request))
  const until = Math.min(step + staleness, lastStep)
  for (let due = step; due <= until; due++) {
    if (queue.some((batch) => batch.due === due)) continue
    const { samples, sampler, turns, ...kept } = await sampleNow(parts, { ...request, step: due })
    queue.push({ ...kept, due, sampled_at: step })
  }
  const [own] = queue.filter(({ due }) => due === step)
  const left = queue.filter(({ due }) => due > step)
  parts.data.trains(own.places)
  const age = step - own.sampled_at
  const fresh = stale_fraction < 1 && age > 0
  const sampled = fresh
    ? await mixed(parts, request, own)
    : { batch: own, stale: age > 0 ? own.places.length : 0 }
  return { sampled: reported(parts, request, sampled, age), waiting: left }
}

/** The first prompts of a batch with their stale responses, the others with new ones. */
async function mixed(parts: SamplingParts, request: SamplingRequest, own: StaleBatch) {
  const { n, max_response_length: R, stale_fraction = 1 } = request.phase.rollout
  const stale = Math.max(1, Math.round(stale_fraction * own.places.length))
  const fresh = await sampleBatch(parts, request, 0, own.places)
  const at = stale * n * R
  const mix = <T extends Uint32Array | Float32Array>(old: T | undefined, now: T | undefined) =>
    old && now && joined([old.subarray(0, at) as T, now.subarray(at) as T])
  const [log_probs, entropy] = [
    mix(own.log_probs, fresh.log_probs),
    mix(own.entropy, fresh.entropy),
  ]
  const { baselines } = fresh
  const batch = {
    places: own.places,
    response_ids: joined([own.response_ids.subarray(0, at), fresh.response_ids.subarray(at)]),
    ...(log_probs && { log_probs }),
    ...(entropy && { entropy }),
    ...(baselines && {
      baselines: baselines.map((now, row) =>
        row < stale * n ? (own.baselines?.[row] ?? now) : now,
      ),
    }),
  }
  return { batch, stale }
}

/** A batch as a step takes it, with what is said of its age. */
function reported(
  parts: SamplingParts,
  { phase }: SamplingRequest,
  {
    batch,
    stale,
  }: { readonly batch: Omit<StaleBatch, 'due' | 'sampled_at'>; readonly stale: number },
  age: number,
): Sampled {
  const { n, max_response_length: R } = phase.rollout
  const { places, response_ids, log_probs, entropy, baselines, metrics } = batch
  return {
    samples: rowSamples(parts, places, n),
    places,
    response_ids,
    ...(log_probs && { log_probs }),
    ...(baselines && { baselines }),
    metrics: {
      'actor/entropy': meanEntropy(parts, R, { response_ids, ...(entropy && { entropy }) }),
      ...metrics,
      'rollout/staleness': (age * stale) / places.length,
    },
  }
}
