// The kernels of the matrix products that a run takes its steps with.

import {
  ownKernels,
  pinnedKernels,
  readKernels,
  unusablePin,
  writeKernels,
} from '../experiment/pinned_kernels.ts'
import type { Experiment } from '../experiment/schema.ts'
import { chooseKernels } from '../protocol/kernel_choice.ts'
import type { LabEvent } from '../protocol/protocol.ts'
import type { MatmulChoice } from '../protocol/results.ts'
import { ExperimentError, type Kernels, labError, type RunDevice } from './session_host.ts'

const DEFAULT_KERNELS: Kernels = { matmul: undefined, text: '' }

/** What a device says where nothing is measured: runs have default or pinned kernels. */
export const UNMEASURED: Pick<RunDevice, 'defaults' | 'variants' | 'missing' | 'tune'> = {
  defaults: {},
  variants: new Set(),
  missing: () => [],
  tune: async () => ({}),
}

/** What is known of the kernels before a device is asked. */
export interface KernelSources {
  readonly run: number
  /** Of the checkpoint that the run began with, as text. */
  readonly made_with: string | undefined
  readonly document: Experiment | undefined
  /** What the page remembers of earlier measurements. */
  readonly kernel_cache: string | undefined
  /** Of the app and of the browser. */
  readonly version: string
  post(event: LabEvent): void
}

/** Those that are settled; else those of the checkpoint where this device has them; else pinned, remembered, measured or default ones. */
export async function chooseRunKernels(
  device: RunDevice,
  sources: KernelSources,
): Promise<Kernels> {
  if (device.settled) return device.settled
  const { made_with, document } = sources
  if (made_with !== undefined) {
    const read = readKernels(made_with)
    if (read.ok && !unusable(read.choice, device)) return tellKernels(read.choice, sources)
  }
  const pinned = document && pinnedKernels(document)
  const problem = unusable(pinned, device)
  if (problem !== undefined && made_with === undefined) throw new ExperimentError(problem)
  if (pinned && problem === undefined) return tellKernels(pinned, sources)
  return measureKernels(device, sources)
}

const unusable = (choice: MatmulChoice | undefined, device: RunDevice): string | undefined =>
  choice && unusablePin(choice, (variant) => device.missing(variant))

function tellKernels(matmul: MatmulChoice | undefined, { run, post }: KernelSources): Kernels {
  if (!matmul || Object.keys(matmul).length === 0) return DEFAULT_KERNELS
  const text = writeKernels(matmul)
  post({ type: 'kernels', run, matmul, kernels: text })
  return { matmul, text }
}

async function measureKernels(
  device: RunDevice,
  { run, version, kernel_cache, post }: KernelSources,
): Promise<Kernels> {
  const tune = async (pinned: MatmulChoice) => {
    post({ type: 'progress', run, message: 'Measuring matrix products' })
    try {
      return await device.tune(pinned)
    } catch (error) {
      if (labError(error).code === 'lost') throw error
      // What cannot be measured is no reason not to train: the default kernels work everywhere.
      return {}
    }
  }
  const choice = await chooseKernels(device, version, kernel_cache, tune)
  if (!choice) return DEFAULT_KERNELS
  const text = writeKernels(ownKernels(choice.matmul, device.defaults))
  post({ type: 'kernels', run, kernels: text, ...choice })
  return { matmul: choice.matmul, text }
}
