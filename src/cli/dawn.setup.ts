// Gives the GPU tests WebGPU in Node, so that the same files run there and in Chromium.

import { shareDevices } from '../kernels/device/testing.ts'
import { openDawn } from './base/dawn.ts'

const gpu = await openDawn()
Object.defineProperty(globalThis, 'navigator', { value: { gpu }, configurable: true })
// Nine tenths of a small test on a software adapter is the compilation of its shaders.
if (!process.env.LONG_TESTS) shareDevices()
