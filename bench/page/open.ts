// Opens the libraries that the benchmarks compare.
import { defaultDevice, init } from '@jax-js/jax'
import '@tensorflow/tfjs-backend-webgpu'
import { setBackend, ready as tfReady } from '@tensorflow/tfjs-core'
import { Gpu } from '../../src/kernels/device/gpu.ts'

/** Opens all three libraries; each has its own device on the same adapter. */
export async function openPeers(): Promise<Gpu> {
  const gpu = await Gpu.open()
  await init('webgpu')
  defaultDevice('webgpu')
  await setBackend('webgpu')
  await tfReady()
  return gpu
}
