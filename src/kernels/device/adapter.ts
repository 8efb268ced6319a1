// Opens an adapter: which device to ask for, and what the page shows of it.
import { GpuError, tooLarge } from './base/errors.ts'
import type { Feature } from './base/kernel.ts'
import { kernelFeatures, narrowLanes, OPTIONAL_FEATURES } from './features.ts'

/** What the page shows of the adapter. */
export interface AdapterFacts {
  readonly vendor: string
  readonly architecture: string
  readonly description: string
  /** True for SwiftShader, lavapipe, WARP: correct, and tens to hundreds of times slower than a
   * GPU. */
  readonly is_software: boolean
  /** The adapter's, and what kernels of the device may ask for. */
  readonly features: readonly string[]
  /** Whether kernels that require 'subgroups' compile here. */
  readonly has_subgroups: boolean
  /** Whether kernels that require 'shader-f16' compile here. */
  readonly has_f16: boolean
  readonly max_buffer_bytes: number
  readonly max_binding_bytes: number
}

export interface OpenedAdapter {
  readonly device: GPUDevice
  /** What kernels of the device may ask for. */
  readonly features: readonly Feature[]
  /** Of the subgroups of kernels that hold many numbers, where they ask for a size. */
  readonly lanes: number | undefined
  readonly facts: AdapterFacts
}

export interface OpenOptions {
  /** Where WebGPU comes from; the browser's own by default, Dawn in Node. */
  readonly gpu?: GPU
  /** Largest tensor of the run (`MemoryPlan.largest`): limits above WebGPU's defaults are asked for
   * only if it needs them. */
  readonly largest?: { readonly label: string; readonly bytes: number }
  /** Most bytes of one buffer of parameters; WebGPU's default binding by default. */
  readonly segmentBytes?: number
  /** False leaves the GPU's clock alone even where there is one. */
  readonly timestamps?: boolean
  /** False leaves subgroups, shader-f16 and subgroup matrices alone even where the adapter has
   * them. */
  readonly features?: boolean
  /** Whether independent dispatches of a program become one. On a GPU by default, where starting
   * them takes longer than many of them; a software adapter gains nothing and compiles longer. */
  readonly joins?: boolean
}

const DEFAULT_BINDING_BYTES = 134217728
const DEFAULT_BUFFER_BYTES = 268435456
const SOFTWARE = /swiftshader|llvmpipe|lavapipe|softpipe|warp|microsoft basic render/i

/** Asks the best adapter for a device, with WebGPU's default limits unless `largest` needs more.
 * Throws GpuError with code insecure_origin, no_webgpu, no_adapter or too_large; the last names
 * what the adapter granted. */
export async function openAdapter(options: OpenOptions): Promise<OpenedAdapter> {
  const adapter = await requestAdapter(options.gpu)
  const { limits } = adapter
  const needed = options.largest?.bytes ?? 0
  const allowed = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize)
  if (needed > allowed) throw tooLarge(options.largest?.label ?? '', needed, allowed)
  const wanted: GPUFeatureName[] = [
    ...(options.timestamps === false ? [] : (['timestamp-query'] as const)),
    ...(options.features === false ? [] : OPTIONAL_FEATURES),
  ]
  const requiredFeatures = wanted.filter((feature) => adapter.features.has(feature))
  const sizes = [needed, ...STEPS.filter((step) => step < needed)]
  const device = await requestLargest(adapter, requiredFeatures, sizes)
  const granted = device.limits.maxStorageBufferBindingSize
  if (needed <= granted) {
    const features = kernelFeatures(device, adapter.info)
    const lanes = narrowLanes(device, adapter.info)
    return { device, features, lanes, facts: factsOf(adapter, device, features) }
  }
  device.destroy()
  throw tooLarge(options.largest?.label ?? '', needed, granted)
}

/** What to ask for where an adapter refuses more, although its limits name it: some Android drivers
 * do. */
const STEPS = [2 ** 31, 2 ** 30, DEFAULT_BUFFER_BYTES, DEFAULT_BINDING_BYTES]

/** A device that binds as many bytes as the first of these sizes that the adapter grants. */
async function requestLargest(
  adapter: GPUAdapter,
  requiredFeatures: GPUFeatureName[],
  [bytes, ...smaller]: readonly number[],
): Promise<GPUDevice> {
  const requiredLimits = {
    ...(bytes > DEFAULT_BINDING_BYTES ? { maxStorageBufferBindingSize: bytes } : {}),
    ...(bytes > DEFAULT_BUFFER_BYTES ? { maxBufferSize: bytes } : {}),
  }
  try {
    return await adapter.requestDevice({ requiredFeatures, requiredLimits })
  } catch (error) {
    if (smaller.length === 0) throw error
    return requestLargest(adapter, requiredFeatures, smaller)
  }
}

/** Bytes of the largest buffer that the best adapter lets a kernel read, whatever a device asks
 * for. Throws as openAdapter. */
export async function mostBinding(gpu?: GPU): Promise<number> {
  const { limits } = await requestAdapter(gpu)
  return Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize)
}

async function requestAdapter(gpu: GPU | undefined): Promise<GPUAdapter> {
  const webgpu = gpu ?? globalThis.navigator?.gpu
  if (!webgpu && globalThis.isSecureContext === false)
    throw new GpuError(
      'insecure_origin',
      'WebGPU works only on a secure page: open this address with https, or on localhost.',
    )
  if (!webgpu)
    throw new GpuError('no_webgpu', 'This browser has no WebGPU. Use a current Chrome or Edge.')
  const adapter = await webgpu.requestAdapter({ powerPreference: 'high-performance' })
  if (!adapter)
    throw new GpuError(
      'no_adapter',
      'WebGPU offers no GPU here: hardware acceleration is off, or the GPU is on the browser’s block list.',
    )
  return adapter
}

/** True for an adapter that computes on the CPU. */
export function isSoftware(info: GPUAdapterInfo): boolean {
  const text = [info.vendor, info.architecture, info.device, info.description].join(' ')
  return info.isFallbackAdapter === true || SOFTWARE.test(text)
}

function factsOf(
  { info, features }: GPUAdapter,
  device: GPUDevice,
  ofKernels: readonly Feature[],
): AdapterFacts {
  return {
    vendor: info.vendor,
    architecture: info.architecture,
    description: info.description || info.device,
    is_software: isSoftware(info),
    features: [...new Set([...features, ...ofKernels])].sort(),
    has_subgroups: device.features.has('subgroups'),
    has_f16: device.features.has('shader-f16'),
    max_buffer_bytes: device.limits.maxBufferSize,
    max_binding_bytes: device.limits.maxStorageBufferBindingSize,
  }
}
