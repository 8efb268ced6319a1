// Reads the version of Dawn that the command line runs on.
import { createRequire } from 'node:module'

/** The version of the package `webgpu`. */
export const webgpuVersion: string = createRequire(import.meta.url)('webgpu/package.json').version
