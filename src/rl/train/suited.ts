// Gives a configuration the matrix products that a run of it begins on.
import type { Gpu } from '../../kernels/device/gpu.ts'
import { gpuChoice } from '../../kernels/matmul/gpu_variants.ts'
import type { TrainerConfig } from '../config/trainer_config.ts'
import { runProducts } from './tuning.ts'

/** The configuration as `lab train` and the page begin it on this adapter; products that it names
 * stay. */
export const suited = (gpu: Pick<Gpu, 'facts'>, config: TrainerConfig): TrainerConfig => ({
  matmul: gpuChoice(runProducts(config), gpu.facts),
  ...config,
})
