// Opens the GPU devices of tests: one for all tests of a process or page, and one that has no room
// for a buffer; lists what a program dispatches. Dawn keeps the pipelines of a device, so on a
// shared one a kernel compiles once, not once a test.

import type { Program } from './base/dispatch_table.ts'
import type { Dispatch } from './base/program.ts'
import { OPTIONAL_FEATURES } from './features.ts'

interface Shared {
  readonly device: GPUDevice
  /** Dawn finds a pipeline again for as long as somebody holds it. */
  readonly pipelines: Set<GPUComputePipeline>
}

type Loss = Pick<GPUDeviceLostInfo, 'reason' | 'message'>

/** On the global object: a test may load the modules again, and the devices stay those of the
 * process. */
const shared = globalThis as {
  devicesByRequest?: Map<string, Promise<Shared>>
  ownDevice?: boolean
}

/** What `open` gives, on a device that no other test shares: for a test that loses it. */
export async function onOwnDevice<T>(open: () => Promise<T>): Promise<T> {
  shared.ownDevice = true
  try {
    return await open()
  } finally {
    shared.ownDevice = false
  }
}

/** What `openAdapter` asks for where the adapter has it. */
const FEATURES: readonly GPUFeatureName[] = ['timestamp-query', ...OPTIONAL_FEATURES]

/** From now on requests for the same limits get the same device, each through its own wrapper. The
 * device has every feature, and the wrapper shows those that were asked for, so that a test without
 * timestamps compiles no kernel again. */
export function shareDevices(): void {
  if (shared.devicesByRequest) return
  const devices = new Map<string, Promise<Shared>>()
  shared.devicesByRequest = devices
  const requestDevice = GPUAdapter.prototype.requestDevice
  GPUAdapter.prototype.requestDevice = async function (descriptor) {
    if (shared.ownDevice) return requestDevice.call(this, descriptor)
    const { requiredLimits, requiredFeatures = [] } = descriptor ?? {}
    const key = JSON.stringify([this.info.description, requiredLimits])
    const known = devices.get(key)
    const full = {
      ...descriptor,
      requiredFeatures: FEATURES.filter((feature) => this.features.has(feature)),
    }
    const made =
      known ?? requestDevice.call(this, full).then((device) => ({ device, pipelines: new Set() }))
    devices.set(key, made)
    return faceOf(await made, new Set(requiredFeatures))
  }
}

/** Its `destroy` ends `lost` and no more: the device stays, and its buffers go with those who hold
 * them. */
function faceOf({ device, pipelines }: Shared, features: ReadonlySet<string>): GPUDevice {
  let end = (_: Loss) => {}
  const lost = new Promise<Loss>((resolve) => {
    end = resolve
    device.lost.then(resolve)
  })
  return withOwn(device, {
    lost,
    features,
    async createComputePipelineAsync(descriptor: GPUComputePipelineDescriptor) {
      const pipeline = await device.createComputePipelineAsync(descriptor)
      pipelines.add(pipeline)
      return pipeline
    },
    destroy: () => end({ reason: 'destroyed', message: 'destroyed by the test' }),
  })
}

/** `target` with some members replaced; its other methods keep their `this`. */
function withOwn<T extends object>(target: T, own: object): T {
  return new Proxy(target, {
    get(_, name) {
      if (name in own) return own[name as keyof typeof own]
      const value = target[name as keyof T]
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** WebGPU whose device has no room for buffer `nth` of those of `least` bytes or more; counts
 * them. */
export function fullAt(nth: number, least = 1024) {
  const seen = { large: 0 }
  // Devices are shared between tests: each gets its own functions back.
  const restores: (() => void)[] = []
  const requestAdapter = async (options?: GPURequestAdapterOptions) => {
    const adapter = await navigator.gpu.requestAdapter(options)
    if (!adapter) return adapter
    const requestDevice = adapter.requestDevice.bind(adapter)
    restores.push(() => Object.assign(adapter, { requestDevice }))
    adapter.requestDevice = async (descriptor) => {
      const device = await requestDevice(descriptor)
      const [create, pop] = [device.createBuffer.bind(device), device.popErrorScope.bind(device)]
      restores.push(() => Object.assign(device, { createBuffer: create, popErrorScope: pop }))
      let isFull = false
      device.createBuffer = (buffer) => {
        isFull = buffer.size >= least && seen.large++ === nth
        return create(buffer)
      }
      device.popErrorScope = () => {
        const own = isFull
        isFull = false
        return pop().then((error) => (own ? ({ message: 'no room' } as GPUError) : error))
      }
      return device
    }
    return adapter
  }
  const restore = () => {
    for (const one of restores) one()
  }
  return { gpu: { requestAdapter } as unknown as GPU, seen, restore }
}

/** The dispatches of a program, in order. */
export const dispatchesOf = ({ steps }: Pick<Program<never>, 'steps'>): Dispatch[] =>
  steps.flatMap((step) => (step.kind === 'stretch' ? step.dispatches : []))
