// Keeps the devices of a worker. One with WebGPU's default limits stays open from run to run, with
// the kernels that it has compiled: it is lent to one run, or to several that share it. A run that
// needs larger limits has a device of its own.
import type { AdapterFacts, OpenOptions } from '../../../kernels/device/adapter.ts'
import type { Gpu } from '../../../kernels/device/gpu.ts'

/** A device for a run. */
export interface Lent {
  readonly gpu: Gpu
  /** After the run. `isSound`: nothing of it is under way and the device is as it was, so that it
   * serves the next run. */
  end(isSound: boolean): Promise<void>
}

export class Devices {
  readonly #openGpu: (options?: OpenOptions) => Promise<Gpu>
  /** With default limits, and not lent to one run alone. */
  #usual: Promise<Gpu> | undefined

  constructor(openGpu: (options?: OpenOptions) => Promise<Gpu>) {
    this.#openGpu = openGpu
  }

  async facts(): Promise<AdapterFacts> {
    return (await this.#open()).facts
  }

  /** The device that is open, or one with larger limits where `largest`, the largest tensor of the
   * run, needs them. */
  async lend(largest: OpenOptions['largest'] & object, isShared = false): Promise<Lent> {
    const opening = this.#open()
    const gpu = await opening
    if (largest.bytes > gpu.facts.max_binding_bytes) {
      const own = await this.#openGpu({ largest })
      return { gpu: own, end: async () => own.destroy() }
    }
    if (!isShared) {
      this.#forget(opening)
      return { gpu, end: (isSound) => ending(gpu, isSound, () => this.#takeBack(gpu)) }
    }
    const own = gpu.beside()
    const end = async (isSound: boolean) => {
      await ending(
        own,
        isSound,
        async () => own.leave(),
        () => this.#forget(opening),
      )
    }
    return { gpu: own, end }
  }

  #open(): Promise<Gpu> {
    this.#usual ??= this.#kept(this.#openGpu())
    return this.#usual
  }

  /** Until it is lost, or cannot be opened at all. */
  #kept(opening: Promise<Gpu>): Promise<Gpu> {
    const forget = () => this.#forget(opening)
    opening.then(({ lost }) => lost.then(forget), forget)
    return opening
  }

  #forget(opening: Promise<Gpu>): void {
    if (this.#usual === opening) this.#usual = undefined
  }

  async #takeBack(gpu: Gpu): Promise<void> {
    gpu.freeAll()
    // Opened meanwhile, for nobody.
    const other = await this.#usual?.catch(() => undefined)
    other?.destroy()
    this.#usual = this.#kept(Promise.resolve(gpu))
  }
}

/** Frees a device for further use, or ends it: one that was lost, or has reported an error of this
 * run, is of no use to others. */
async function ending(
  gpu: Gpu,
  isSound: boolean,
  free: () => Promise<void>,
  onBroken: () => void = () => {},
): Promise<void> {
  try {
    if (isSound) {
      await gpu.finish()
      return await free()
    }
  } catch {
    // As below.
  }
  gpu.destroy()
  onBroken()
}
