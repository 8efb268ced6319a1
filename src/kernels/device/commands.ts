// Collects the commands of the open submit, and params that only it reads.

import { SLOT_BYTES } from './base/program.ts'
import type { Buffers } from './buffers.ts'
import type { OpenDevice } from './open_device.ts'

const ARENA_SLOTS = 4096

export class Commands {
  /** Submits sent so far. */
  submits = 0
  /** The uniform buffer that holds the params of the open submit's parts of dispatches, and those
   * of programs that it replays once more. */
  readonly arena: GPUBuffer
  readonly #open: OpenDevice
  /** What the arena will hold, uploaded once when the submit is sent. */
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
      GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST,
      'scratch',
    )
  }

  /** Whether anything waits for the next submit. */
  get is_open(): boolean {
    return this.#encoder !== undefined
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

  /** Encodes bringing params to a buffer that earlier commands of this submit read. */
  copyParams(params: Uint8Array, to: GPUBuffer): void {
    const slot = this.writeParams(params)
    this.encoder().copyBufferToBuffer(this.arena, slot, to, 0, params.byteLength)
  }

  /** Sends everything encoded so far to the GPU. */
  submit(): void {
    if (!this.#encoder) return
    const { device, counts } = this.#open
    this.#pass?.end()
    this.#pass = undefined
    if (this.#used > 0) this.#open.upload(this.arena, this.#staged.subarray(0, this.#used))
    device.queue.submit([this.#encoder.finish()])
    counts.submits++
    this.submits++
    this.#encoder = undefined
    this.#used = 0
  }
}
