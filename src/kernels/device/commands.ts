// Collects the commands of the open submit, and the params of dispatches that run in parts.

import { SLOT_BYTES } from './base/program.ts'
import type { OpenDevice } from './open_device.ts'

/** Parts of dispatches in a submit at most. */
const PART_SLOTS = 1024

export class Commands {
  /** Submits sent so far. */
  submits = 0
  readonly #open: OpenDevice
  /** Params of the parts in the open submit, uploaded once when it is submitted. */
  readonly #staged = new Uint8Array(PART_SLOTS * SLOT_BYTES)
  readonly params = new DataView(this.#staged.buffer)
  #used = 0
  #parts: GPUBuffer | undefined
  #encoder: GPUCommandEncoder | undefined
  #pass: GPUComputePassEncoder | undefined

  constructor(open: OpenDevice) {
    this.#open = open
  }

  /** The uniform buffer of the params of parts, made when the first dispatch is cut. Like all
   * params it does not count as memory. */
  get parts(): GPUBuffer {
    this.#parts ??= this.#open.device.createBuffer({
      label: 'params of parts',
      size: this.#staged.byteLength,
      usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST,
    })
    return this.#parts
  }

  /** Whether anything waits for the next submit. */
  get is_open(): boolean {
    return this.#encoder !== undefined
  }

  /** Whether the open submit has room for the params of one more part. */
  get hasRoom(): boolean {
    return this.#used < this.#staged.byteLength
  }

  /** The open pass, if there is one. */
  get openPass(): GPUComputePassEncoder | undefined {
    return this.#pass
  }

  /** Ends the open pass. Copies and stamps go between passes. */
  encoder(): GPUCommandEncoder {
    this.#pass?.end()
    this.#pass = undefined
    this.#encoder ??= this.#open.device.createCommandEncoder()
    return this.#encoder
  }

  /** The open pass, or a new one. */
  pass(): GPUComputePassEncoder {
    this.#pass ??= this.encoder().beginComputePass()
    return this.#pass
  }

  /** A new pass, with timestamps where its ends are timed. */
  newPass(timestampWrites: GPUComputePassTimestampWrites | undefined): GPUComputePassEncoder {
    this.#pass = this.encoder().beginComputePass(timestampWrites && { timestampWrites })
    return this.#pass
  }

  /** Writes the params of a part into the next slot. Returns its first byte. */
  writeParams(params: Uint8Array): number {
    const slot = this.#used
    this.#used += SLOT_BYTES
    this.#staged.set(params, slot)
    return slot
  }

  /** Sends everything encoded so far to the GPU. */
  submit(): void {
    if (!this.#encoder) return
    const { device, counts } = this.#open
    this.#pass?.end()
    this.#pass = undefined
    if (this.#used > 0) device.queue.writeBuffer(this.parts, 0, this.#staged, 0, this.#used)
    counts.uploaded_bytes += this.#used
    device.queue.submit([this.#encoder.finish()])
    counts.submits++
    this.submits++
    this.#encoder = undefined
    this.#used = 0
  }
}
