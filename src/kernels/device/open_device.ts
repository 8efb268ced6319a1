// Holds an open device with what everything that talks to it shares: compiled kernels, running
// totals and the first error.
import { GpuError } from './base/errors.ts'
import type { Feature } from './base/kernel.ts'

/** Running totals since the device was opened: what tests assert and the memory panel shows. */
export interface GpuCounts {
  buffers: number
  bind_groups: number
  pipelines: number
  /** Characters of WGSL that they were compiled from. */
  wgsl_bytes: number
  /** Kernel calls; one that runs in parts counts once. */
  dispatches: number
  submits: number
  reads: number
  /** Bytes uploaded by writeBuffer. */
  uploaded_bytes: number
  /** Bytes of all live buffers, our own count. */
  live_bytes: number
}

/** A kernel that can be bound. */
export interface Compiled {
  readonly pipeline: GPUComputePipeline
  readonly layout: GPUBindGroupLayout
}

export class OpenDevice {
  readonly device: GPUDevice
  /** What kernels may ask for. */
  readonly features: readonly Feature[]
  /** Of the subgroups of kernels that hold many numbers, where they ask for a size. */
  readonly lanes: number | undefined
  readonly counts: GpuCounts = {
    buffers: 0,
    bind_groups: 0,
    pipelines: 0,
    wgsl_bytes: 0,
    dispatches: 0,
    submits: 0,
    reads: 0,
    uploaded_bytes: 0,
    live_bytes: 0,
  }
  /** Resolves with the reason when the device is lost; never after `GPUDevice.destroy`. */
  readonly lost: Promise<GpuError>
  /** The first error that WebGPU reported; the loss of the device replaces it. */
  failure: GpuError | undefined
  /** Pipelines by the names of their kernels; those that do not compile are left out. */
  readonly compiled = new Map<string, Promise<Compiled>>()

  constructor(device: GPUDevice, features: readonly Feature[], lanes?: number) {
    this.device = device
    this.features = features
    this.lanes = lanes
    device.addEventListener('uncapturederror', ({ error }) => {
      const memory = 'GPUOutOfMemoryError' in globalThis && error instanceof GPUOutOfMemoryError
      this.failure ??= new GpuError(memory ? 'out_of_memory' : 'validation', error.message)
    })
    this.lost = new Promise((resolve) => {
      device.lost.then(({ reason, message }) => {
        if (reason === 'destroyed') return
        this.failure = new GpuError('lost', `The GPU device was lost: ${message || reason}`)
        resolve(this.failure)
      })
    })
  }

  /** Throws the first error that WebGPU reported. */
  throwFailure(): void {
    if (this.failure) throw this.failure
  }

  /** Writes bytes to the beginning of a buffer. */
  upload(buffer: GPUBuffer, bytes: Uint8Array<ArrayBuffer>): void {
    this.device.queue.writeBuffer(buffer, 0, bytes)
    this.counts.uploaded_bytes += bytes.byteLength
  }

  /** Waits until a staging buffer can be read. Throws GpuError lost, or the error that came
   * first. */
  async map(buffer: GPUBuffer, bytes: number, what: string): Promise<void> {
    try {
      await buffer.mapAsync(GPUMapMode.READ, 0, bytes)
    } catch (error) {
      throw this.failure ?? new GpuError('lost', `Reading back ${what}: ${error}`)
    }
  }
}
