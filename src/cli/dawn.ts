// WebGPU without a browser: Dawn's own build for Node, on a GPU or on a software Vulkan driver.
import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { create, globals } from 'webgpu'

/** Where Vulkan driver manifests of software adapters are found, best first. */
const MANIFESTS = ['/usr/share/vulkan/icd.d', '/etc/vulkan/icd.d']
const CHROMIUMS = [
  process.env.CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/lib/chromium/chromium',
  '/opt/google/chrome/chrome',
]

/** Vulkan manifests of software drivers on this machine: Mesa's lavapipe, then SwiftShader beside a Chromium. */
export function softwareDrivers(): string[] {
  const mesa = MANIFESTS.filter(existsSync).flatMap((dir) =>
    readdirSync(dir)
      .filter((file) => /^lvp_icd.*\.json$/.test(file))
      .map((file) => join(dir, file)),
  )
  const swiftshader = CHROMIUMS.flatMap((path) => {
    if (!path || !existsSync(path)) return []
    const folders = [dirname(realpathSync(path)), '/usr/lib/chromium']
    return folders.map((folder) => join(folder, 'vk_swiftshader_icd.json')).filter(existsSync)
  })
  return [...new Set([...mesa, ...swiftshader])]
}

/**
 * WebGPU on Dawn. A real GPU if the drivers show one, else lavapipe, else SwiftShader.
 * The first requestAdapter fixes the driver for the process: VK_DRIVER_FILES chooses another.
 * Returns undefined when there is no adapter at all.
 */
export async function openDawn(): Promise<GPU | undefined> {
  Object.assign(globalThis, globals)
  const gpu = create([])
  if (await gpu.requestAdapter()) return gpu
  for (const driver of process.env.VK_DRIVER_FILES ? [] : softwareDrivers()) {
    process.env.VK_DRIVER_FILES = driver
    const software = create([])
    if (await software.requestAdapter()) return software
  }
  return undefined
}
