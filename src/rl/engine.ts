// Trainers of one device, one after the other: for runs whose configuration changes while they go on.
import { type Gpu, tooLarge } from '../kernels/gpu.ts'
import type { MatmulChoice } from '../kernels/matmul/matmul_variants.ts'
import { planMemory } from './memory.ts'
import { Trainer, type TrainerConfig } from './trainer.ts'

/** The largest tensor that any of these configurations needs. */
export function largestTensor(configs: readonly TrainerConfig[]) {
  const all = configs.map((config) => planMemory(config).largest)
  return all.reduce((a, b) => (b.bytes > a.bytes ? b : a))
}

/** What lab/steered_run.ts needs of a device. Every trainer uses the kernels of `matmul`. */
export function steeredEngine(
  gpu: Gpu,
  matmul: MatmulChoice | undefined,
  onProgress?: (message: string) => void,
) {
  return {
    create: (config: TrainerConfig) => Trainer.create(gpu, { ...config, matmul }, onProgress),
    release: () => gpu.freeAll(),
    refusal: (config: TrainerConfig): string | undefined => {
      const { label, bytes } = planMemory(config).largest
      const allowed = gpu.facts.max_binding_bytes
      return bytes > allowed ? tooLarge(label, bytes, allowed).message : undefined
    },
  }
}
