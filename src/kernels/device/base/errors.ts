// Declares the errors that devices and calls of kernels throw.

/** A tensor or a number handed to a kernel has the wrong shape, type or range: always a bug in the
 * caller. */
export class ShapeError extends Error {
  override name = 'ShapeError'
}

/** Why the lab cannot use the GPU; the page has one message and one remedy for each. */
export type GpuErrorCode =
  | 'no_webgpu' // this browser has no navigator.gpu
  | 'insecure_origin' // WebGPU needs https or localhost
  | 'no_adapter' // WebGPU is there, but offers no GPU
  | 'too_large' // more memory or a larger binding than the adapter allows
  | 'shader' // a shader does not compile
  | 'validation' // WebGPU refused a call: a bug of ours
  | 'out_of_memory'
  | 'lost' // the device is gone: driver reset, crash, sleep

/** The browser's GPU refused something. `code` says what, the message says where and what to do. */
export class GpuError extends Error {
  override name = 'GpuError'
  readonly code: GpuErrorCode
  constructor(code: GpuErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** Bytes in words, as for the memory of a whole run, e.g. '4.00 GiB' or '7.34 MiB'. */
export function memorySize(bytes: number): string {
  const [size, unit] = bytes < 2 ** 30 ? [bytes / 2 ** 20, 'MiB'] : [bytes / 2 ** 30, 'GiB']
  return `${size < 1000 ? size.toPrecision(3) : size.toFixed(0)} ${unit}`
}

/** Bytes in words, as for one buffer, e.g. '4.2 MB'. */
export const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`

/** A tensor beyond the adapter's limits: which, how large, how large it may be, what to do. */
export function tooLarge(label: string, bytes: number, allowed: number): GpuError {
  return new GpuError(
    'too_large',
    `${label} needs ${megabytes(bytes)}; this adapter binds at most ${megabytes(allowed)}. Choose a smaller batch or a smaller model.`,
  )
}

/** A buffer that the GPU has no memory for: which, how large, beside what, what to do. */
export function noRoom(label: string, bytes: number, held: number): GpuError {
  return new GpuError(
    'out_of_memory',
    `${label} needs ${megabytes(bytes)}, and the GPU has no room for it beside the ${megabytes(held)} that the run holds already. Choose a smaller batch or a smaller model.`,
  )
}
