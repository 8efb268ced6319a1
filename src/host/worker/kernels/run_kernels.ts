// Chooses the kernels of the matrix products that a run takes its steps with.

import {
  ownKernels,
  pinnedKernels,
  readKernels,
  unusablePin,
  writeKernels,
} from '../../../document/experiment/fields/pinned_kernels.ts'
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { steeredKernels } from '../../../document/experiment/steering/steered_kernels.ts'
import { chooseKernels } from '../../protocol/kernel_choice.ts'
import type { LabEvent } from '../../protocol/protocol.ts'
import type { MatmulChoice } from '../../protocol/results.ts'
import { ExperimentError, type Kernels, type RunDevice } from '../base/session_host.ts'
import { type MeasuredRun, Measuring } from './measuring.ts'

const DEFAULT_KERNELS: Kernels = { matmul: undefined, text: '' }

/** What a device says where nothing is measured: runs have default or pinned kernels. */
export const UNMEASURED: Pick<
  RunDevice,
  'defaults' | 'suited' | 'variants' | 'missing' | 'measure'
> = {
  defaults: {},
  suited: {},
  variants: new Set(),
  missing: () => [],
  measure: async function* () {},
}

/** What is known of the kernels before a device is asked. */
export interface KernelSources {
  readonly run: number
  /** What the page remembers of earlier measurements. */
  readonly kernel_cache: string | undefined
  /** Of the app and of the browser. */
  readonly version: string
  post(event: LabEvent): void
}

/** What a run begins with. */
export interface KernelsOf {
  /** Of the checkpoint that it begins with, as text. */
  readonly made_with: string | undefined
  readonly document: Experiment | undefined
}

/** Those that are settled; else those of the checkpoint where this device has them; else pinned,
 * remembered, suited or default ones. Only a run that begins unpinned, with classes that nobody has
 * measured, is to measure. */
export function chooseRunKernels(
  device: RunDevice,
  { made_with, document }: KernelsOf,
  sources: KernelSources,
): Kernels {
  if (device.settled) return device.settled
  if (made_with !== undefined) {
    const read = readKernels(made_with)
    if (read.ok && !unusable(read.choice, device)) return tellKernels(read.choice, sources)
  }
  const pinned = document && pinnedKernels(document)
  const problem = unusable(pinned, device)
  if (problem !== undefined && made_with === undefined) throw new ExperimentError(problem)
  if (pinned && problem === undefined) return tellKernels(pinned, sources)
  return unpinnedKernels(device, document, sources)
}

const unusable = (choice: MatmulChoice | undefined, device: RunDevice): string | undefined =>
  choice && unusablePin(choice, (variant) => device.missing(variant))

function tellKernels(matmul: MatmulChoice | undefined, { run, post }: KernelSources): Kernels {
  if (!matmul || Object.keys(matmul).length === 0) return DEFAULT_KERNELS
  const text = writeKernels(matmul)
  post({ type: 'kernels', run, matmul, kernels: text })
  return { matmul, text }
}

function unpinnedKernels(
  device: RunDevice,
  document: Experiment | undefined,
  { run, version, kernel_cache, post }: KernelSources,
): Kernels {
  const changed = steeredKernels(document?.steering ?? [])
  const choice = chooseKernels(device, version, kernel_cache, changed)
  if (!choice) return DEFAULT_KERNELS
  const { matmul, settled, remember } = choice
  const text = writeKernels(ownKernels(matmul, device.defaults))
  const cache = settled ? undefined : remember({}, true)
  post({ type: 'kernels', run, kernels: text, matmul, ...(cache !== undefined && { cache }) })
  const measuring = settled && { device, settled, matmul, remember }
  return { matmul, text, ...(measuring && { measuring }) }
}

/** The kernels of one run: chosen on its first device, kept on every other one, and measured beside
 * it on the first. */
export class RunKernels {
  readonly #sources: KernelSources
  #chosen: Kernels | undefined
  #measuring: Measuring | undefined
  #hasBegun = false

  constructor(sources: KernelSources) {
    this.#sources = sources
  }

  /** As the experiment's field that brings back what the run began with; '' for the default ones,
   * and before they are chosen. */
  get text(): string {
    return this.#chosen?.text ?? ''
  }

  /** Chooses, unless that is done. */
  choose(device: RunDevice, of: KernelsOf): MatmulChoice | undefined {
    this.#chosen ??= chooseRunKernels(device, of, this.#sources)
    return this.#chosen.matmul
  }

  get is_chosen(): boolean {
    return this.#chosen !== undefined
  }

  /** Begins to measure beside a run that is open, where there is something to measure and it was
   * not begun before. */
  begin(run: Omit<MeasuredRun, 'id' | 'post'>): void {
    const { run: id, post } = this.#sources
    const { measuring } = this.#chosen ?? {}
    if (!measuring || this.#hasBegun) return
    this.#hasBegun = true
    this.#measuring = new Measuring(measuring, { ...run, id, post })
  }

  /** Measuring.between */
  async between(): Promise<void> {
    await this.#measuring?.between()
  }

  /** The device of the run is about to be freed: nothing of it is used any more. */
  end(): void {
    this.#measuring?.end()
    this.#measuring = undefined
  }
}
