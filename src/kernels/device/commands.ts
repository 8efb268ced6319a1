// Collects the commands of the open submit, and the params of its dispatches.

import { SLOT_BYTES } from './base/program.ts'
import type { Buffers } from './buffers.ts'
import type { OpenDevice } from './open_device.ts'

/** Dispatches per submit at most; a longer list of commands is split into several submits. */
const ARENA_SLOTS = 4096

export class Commands {
  /** The uniform buffer that holds the params of the dispatches of one submit. */
  readonly arena: GPUBuffer
  readonly #open: OpenDevice
  /** Params of the dispatches in the open submit, uploaded once when it is submitted. */
  readonly #staged = new Uint8Array(ARENA_SLOTS * SLOT_BYTES)
  readonly params = new DataView(this.#staged.buffer)
  #used = 0
  #encoder: GPUCommandEncoder | undefined
  #pass: GPUComputePassEncoder | undefined

  constructor(open: OpenDevice, buffers: Buffers) {
    this.#open = open
    this.arena = buffers.create(
      'params',
      this.#staged.byteLength,
      GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST,
      'scratch',
    )
  }

  /** Whether anything waits for the next submit. */
  get is_open(): boolean {
    return this.#encoder !== undefined
  }

  /** Whether a dispatch waits for the next submit. */
  get hasDispatches(): boolean {
    return this.#used > 0
  }

  /** Whether the open submit has room for so many more bytes of params. */
  hasRoom(bytes: number): boolean {
    return this.#used + bytes <= this.#staged.byteLength
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

  /** Writes params into the next slots of the arena. Returns the first slot's first byte. */
  writeParams(params: Uint8Array): number {
    const slot = this.#used
    this.#used += Math.ceil(params.byteLength / SLOT_BYTES) * SLOT_BYTES
    this.#staged.set(params, slot)
    return slot
  }

  /** Sends everything encoded so far to the GPU. */
  submit(): void {
    if (!this.#encoder) return
    const { device, counts } = this.#open
    this.#pass?.end()
    this.#pass = undefined
    if (this.#used > 0) device.queue.writeBuffer(this.arena, 0, this.#staged, 0, this.#used)
    counts.uploaded_bytes += this.#used
    device.queue.submit([this.#encoder.finish()])
    counts.submits++
    this.#encoder = undefined
    this.#used = 0
  }
}
