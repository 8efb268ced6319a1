// Creates trainers on one device, one at a time: for runs whose configuration changes while they
// train.
import { memorySize, tooLarge } from '../../kernels/device/base/errors.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import { type MatmulChoice, missingFeatures } from '../../kernels/matmul/matmul_variants.ts'
import type { TrainerConfig } from '../config/trainer_config.ts'
import { planMemory } from './parts/memory.ts'
import { type TrainerState, trainedIn } from './state.ts'
import { Trainer } from './trainer.ts'
import { checkMatrices } from './tuning.ts'

/** The largest tensor that any of these configurations needs. */
export function largestTensor(configs: readonly TrainerConfig[]) {
  const all = configs.map((config) => planMemory(config).largest)
  return all.reduce((a, b) => (b.bytes > a.bytes ? b : a))
}

/** What host/worker/base/steered_run.ts needs of a device. Every trainer uses the kernels of
 * `matmul`, but for the classes of its configuration's own, as far as this device has what they
 * require. A change that would take more than `mostBytes` in all is refused. On hardware, which
 * may have a watchdog, dispatches are limited. */
export function steeredEngine(
  gpu: Gpu,
  matmul: MatmulChoice | undefined,
  onProgress?: (message: string) => void,
  mostBytes = Number.POSITIVE_INFINITY,
) {
  const lacks = (variant: string) => missingFeatures(variant, gpu.facts.features)
  return {
    /** `state` = what the trainer will continue from. */
    async create(config: TrainerConfig, state?: TrainerState) {
      if (!gpu.facts.is_software) gpu.limitDispatches()
      const trainedBefore = state && trainedIn(state.actor)
      const own = Object.entries(config.matmul ?? {}).filter(([, name]) => lacks(name).length === 0)
      const kernels = own.length > 0 ? { ...matmul, ...Object.fromEntries(own) } : matmul
      const whole = { ...config, matmul: kernels, trainedBefore }
      await checkMatrices(gpu, whole)
      return Trainer.create(gpu, whole, onProgress)
    },
    release: () => gpu.freeAll(),
    refusal: (config: TrainerConfig): string | undefined => {
      const missing = Object.values(config.matmul ?? {}).flatMap(lacks)
      if (missing.length > 0)
        return `kernels: this adapter lacks ${[...new Set(missing)].join(' and ')}`
      const plan = planMemory(config)
      const { label, bytes } = plan.largest
      const allowed = gpu.facts.max_binding_bytes
      if (bytes > allowed) return tooLarge(label, bytes, allowed).message
      const total = plan.total()
      return total > mostBytes
        ? `the run would take ${memorySize(total)} of GPU memory, and ${memorySize(mostBytes)} are allowed for it; train it again to be asked`
        : undefined
    },
  }
}
