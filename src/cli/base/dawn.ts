// Opens WebGPU without a browser: Dawn's own build for Node, on a GPU or on a software Vulkan
// driver.
import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { create, globals } from 'webgpu'
import { isSoftware } from '../../kernels/device/adapter.ts'
import { LabFailure } from './command.ts'

/** Folders of Vulkan driver manifests. */
const MANIFESTS = ['/usr/share/vulkan/icd.d', '/etc/vulkan/icd.d', '/usr/local/share/vulkan/icd.d']
const CHROMIUMS = [
  process.env.CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/lib/chromium/chromium',
  '/opt/google/chrome/chrome',
]
/** Older lavapipe lacks Vulkan features that Dawn builds on; Debian 12 ships 22.3. */
const OLDEST_MESA = 24

/** Vulkan manifests of software drivers on this machine: Mesa's lavapipe, then SwiftShader beside a
 * Chromium. */
function softwareDrivers(): string[] {
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

/** False for a lavapipe older than Mesa 24, by its description, e.g. `llvmpipe: Mesa 22.3.6 (LLVM
 * 15.0.6)`. */
export function isSupported(description: string): boolean {
  const mesa = /^llvmpipe\b.*\bMesa (\d+)\./.exec(description)
  return !mesa || Number(mesa[1]) >= OLDEST_MESA
}

/** Toggles of Dawn's: what browsers offer behind a flag, subgroup matrices among it, which nothing
 * takes unasked; and those that DAWN_FEATURES names, such as vulkan_enable_f16_on_nvidia, without
 * which Dawn leaves shader-f16 off on NVIDIA's Vulkan driver. Dawn ignores a name that it does not
 * know. Throws LabFailure for what can be none. */
export function dawnOptions(named = process.env.DAWN_FEATURES ?? ''): string[] {
  const names = named
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean)
  const wrong = names.find((name) => !/^[a-z][a-z0-9_]*$/.test(name))
  if (wrong !== undefined)
    throw new LabFailure(
      `--dawn-features: expected names of Dawn’s toggles such as vulkan_enable_f16_on_nvidia, with commas between them, got '${wrong}'`,
    )
  return [`enable-dawn-features=${['allow_unsafe_apis', ...names].join(',')}`]
}

/** One adapter that Dawn can open here. */
export interface DawnAdapter {
  readonly gpu: GPU
  readonly info: GPUAdapterInfo
  /** Path of the Vulkan manifest it came from; undefined = the system's own choice. */
  readonly driver: string | undefined
  readonly isSupported: boolean
}

/** What WebGPU offers here, best first: the system's choice (a real GPU if the drivers show one),
 * lavapipe, SwiftShader. Each try makes a new Vulkan instance, which reads VK_DRIVER_FILES; set by
 * the user, it is the only try. The variable is left as the last adapter given needs it.
 *
 * Dawn prints "Warning: … artificially reduced …" to stderr for each try; no option turns that
 * off. */
export async function* dawnAdapters(): AsyncGenerator<DawnAdapter> {
  Object.assign(globalThis, globals)
  const chosen = process.env.VK_DRIVER_FILES
  for (const driver of [chosen, ...(chosen ? [] : softwareDrivers())]) {
    if (driver) process.env.VK_DRIVER_FILES = driver
    const gpu = create(dawnOptions())
    const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' })
    if (!adapter) continue
    const { info } = adapter
    yield { gpu, info, driver, isSupported: isSupported(info.description) }
  }
}

/** Dawn ends with the object it came from, devices and all, so none may be collected while it is in
 * use. */
const opened: GPU[] = []

/** WebGPU on the first adapter that works, or undefined when there is none. */
export async function openDawn(): Promise<GPU | undefined> {
  for await (const { gpu, info, isSupported } of dawnAdapters()) {
    if (!isSupported) continue
    if (opened.length === 0 && isSoftware(info)) pollByTimer()
    opened.push(gpu)
    return gpu
  }
  return undefined
}

/** How long Dawn waits from one question to the next. */
const POLL_MS = 1

/** The functions of Node that are replaced. */
type Timers = Pick<typeof globalThis, 'setImmediate' | 'setTimeout'>

/** From now on Dawn asks every millisecond. By itself it asks through `setImmediate`, as often as
 * it can, which takes a whole core, and on a software adapter that core is the GPU: a step takes
 * twice as long. A GPU answers sooner than a timer, so there it stays as it is. */
export function pollByTimer(timers: Timers = globalThis): void {
  const { setImmediate, setTimeout } = timers
  const soon = (callback: (...args: unknown[]) => void, ...args: unknown[]) =>
    isNative(callback) ? setTimeout(callback, POLL_MS) : setImmediate(callback, ...args)
  timers.setImmediate = Object.assign(soon, setImmediate) as typeof setImmediate
}

/** True for a function of Dawn's binding: those of JavaScript show their source, those of Node have
 * names. */
function isNative(callback: (...args: unknown[]) => void): boolean {
  return callback.name === '' && `${callback}` === 'function () { [native code] }'
}
