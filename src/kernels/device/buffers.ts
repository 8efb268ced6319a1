// Keeps the buffers of an open device: what each is kept for, and the staging buffers that
// readbacks use again.
import { noRoom } from './base/errors.ts'
import { type MemoryKind, noBytes } from './base/tensor.ts'
import type { OpenDevice } from './open_device.ts'

/** No step reads back as much. */
const KEPT_STAGING_BYTES = 2 ** 26

export class Buffers {
  readonly #open: OpenDevice
  readonly #kinds = new Map<MemoryKind, number>()
  readonly #sizes = new Map<GPUBuffer, { bytes: number; kind: MemoryKind }>()
  /** Staging buffers that no readback is using. */
  #idle: GPUBuffer[] = []
  #checked: Promise<void> = Promise.resolve()

  constructor(open: OpenDevice) {
    this.#open = open
  }

  /** Live bytes by kind. */
  memory(): Record<MemoryKind, number> {
    const kinds = noBytes()
    for (const [kind, bytes] of this.#kinds) kinds[kind] = bytes
    return kinds
  }

  /** A new zeroed buffer. If the GPU has no room for it, the device's next submit throws that. */
  create(label: string, bytes: number, usage: number, kind: MemoryKind): GPUBuffer {
    const { counts } = this.#open
    const buffer = this.createUncounted(label, bytes, usage)
    this.#sizes.set(buffer, { bytes, kind })
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + bytes)
    counts.buffers++
    counts.live_bytes += bytes
    return buffer
  }

  /** As `create`, for what is small beside the tensors and ends with who holds it. */
  createUncounted(label: string, bytes: number, usage: number): GPUBuffer {
    const { device, counts } = this.#open
    this.#open.throwFailure()
    device.pushErrorScope('out-of-memory')
    const buffer = device.createBuffer({ label, size: bytes, usage })
    const held = counts.live_bytes
    const check = device.popErrorScope().then(
      (error) => {
        if (error) this.#open.failure ??= noRoom(label, bytes, held)
      },
      () => {}, // a lost device is reported elsewhere
    )
    const before = this.#checked
    this.#checked = before.then(() => check)
    return buffer
  }

  /** Resolves when it is known whether there was room for every buffer so far. */
  checked(): Promise<void> {
    return this.#checked
  }

  destroy(buffer: GPUBuffer): void {
    const entry = this.#sizes.get(buffer)
    if (!entry) return
    buffer.destroy()
    this.#sizes.delete(buffer)
    this.#kinds.set(entry.kind, (this.#kinds.get(entry.kind) ?? 0) - entry.bytes)
    this.#open.counts.live_bytes -= entry.bytes
  }

  /** Destroys all buffers, or all but one. No readback may be under way. */
  destroyAllBut(kept?: GPUBuffer): void {
    this.#idle = []
    for (const buffer of [...this.#sizes.keys()]) if (buffer !== kept) this.destroy(buffer)
  }

  /** Counts nothing as live any more: the device itself was destroyed. */
  forgetAll(): void {
    this.#sizes.clear()
    this.#kinds.clear()
    this.#open.counts.live_bytes = 0
  }

  /** Makes room for `count` readbacks of up to `bytes` at a time. */
  reserveStaging(bytes: number, count: number): void {
    for (let i = 0; i < count; i++) this.#idle.push(this.#createStaging(bytes))
  }

  /** The smallest idle staging buffer that fits, else a new one: after warm-up reads create
   * nothing. */
  takeStaging(bytes: number): GPUBuffer {
    const fitting = this.#idle.filter((b) => b.size >= bytes).sort((a, b) => a.size - b.size)[0]
    if (!fitting) return this.#createStaging(bytes)
    this.#idle.splice(this.#idle.indexOf(fitting), 1)
    return fitting
  }

  /** Gives back an unmapped staging buffer for later readbacks; a large one, as a model's weights
   * take, is freed. */
  returnStaging(buffer: GPUBuffer): void {
    if (buffer.size > KEPT_STAGING_BYTES) this.destroy(buffer)
    else this.#idle.push(buffer)
  }

  #createStaging(bytes: number): GPUBuffer {
    const usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST
    return this.create('staging', bytes, usage, 'scratch')
  }
}
