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
}

/** The kernels of this rollout's caches. */
export function cacheKernelsOf({ model: { shape }, cache, tensors, R }: Recording) {
  const size = { ...shape, width: cache.prompt_length + R }
  return cacheKernels(size, cacheDType(tensors.caches[0]))
}

/** Whether a rollout of this model on this device is recorded with norms inside products: not where
 * states are changed between them. */
export const hasNormsInside = ({ facts }: Gpu, { fusion, interventions }: Model): boolean =>
  interventions === undefined && (fusion?.decodeNorms ?? !facts.is_software)
