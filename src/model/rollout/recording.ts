// Declares what a rollout is recorded with.
import type { CacheSize } from '../../kernels/attention/attention.ts'
import { cacheDType, cacheKernels } from '../../kernels/attention/attention_cache.ts'
import type { Recorder } from '../../kernels/device/base/program.ts'
import type { Allocator } from '../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import type { Model } from '../transformer/model.ts'
import type { RolloutLive, SpecialTokens } from './rollout_inputs.ts'
import type { RolloutTensors } from './rollout_tensors.ts'

/** What the parts of a rollout are recorded with. */
export interface Recording {
  readonly gpu: Allocator
  readonly recorder: Recorder<RolloutLive>
  readonly model: Model
  readonly cache: CacheSize
  readonly tensors: RolloutTensors
  readonly special: SpecialTokens
  /** Decoded columns. */
  readonly R: number
  /** Whether products of a decoded token begin with what comes before them
   * (kernels/decode/decode_normed.ts): fewer dispatches, other rounding. Those that have nothing
   * before them then run in lanes of few rows, too. Absent: no. */
  readonly normsInside?: boolean
  /** Whether a decoded token is one dispatch through all blocks, where a workgroup holds the states
   * of such a model (whole_token.ts): other rounding. Absent: no. */
  readonly wholeTokens?: boolean
}

/** The kernels of this rollout's caches. */
export function cacheKernelsOf({ model: { shape }, cache, tensors, R }: Recording) {
  const size = { ...shape, width: cache.prompt_length + R }
  return cacheKernels(size, cacheDType(tensors.caches[0]))
}

/** What a rollout of this model on this device is recorded with: nothing of it where states are
 * changed between the kernels, and no whole tokens where an adapter adds to their products. */
export function decodeFusion(
  { facts }: Pick<Gpu, 'facts'>,
  { fusion, interventions, adapter }: Model,
): Pick<Recording, 'normsInside' | 'wholeTokens'> {
  const onHardware = !facts.is_software
  const isFree = interventions === undefined
  return {
    normsInside: isFree && (fusion?.decodeNorms ?? onHardware),
    wholeTokens: isFree && adapter === undefined && (fusion?.decodeToken ?? onHardware),
  }
}
