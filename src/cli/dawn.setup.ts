// Gives the kernel tests WebGPU in Node, so that the same files run there and in Chromium.
import { openDawn } from './dawn.ts'

const gpu = await openDawn()
Object.defineProperty(globalThis, 'navigator', { value: { gpu }, configurable: true })
