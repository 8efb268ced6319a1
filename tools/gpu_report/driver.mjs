// Makes Mesa's Vulkan drivers for AMD and Intel GPUs compile kernels where there is no such GPU.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const HERE = dirname(fileURLToPath(import.meta.url))
const PLACES = ['/usr/lib/x86_64-linux-gnu', '/usr/lib64', '/usr/lib']
export const DRIVER = 'libvulkan_radeon.so'
const INTEL_DRIVER = 'libvulkan_intel.so'
const OLDEST_MESA = 24

/** What the report can look at: a GPU's family, and what Dawn is told. */
export const MODES = {
  'navi31 default': { family: 'navi31', toggles: [] },
  // What backends without robust buffer access get, Metal and D3D among them: every index is
  // clamped in the kernel.
  'navi31 clamp': {
    family: 'navi31',
    toggles: ['disable-dawn-features=vulkan_use_buffer_robust_access_2'],
  },
  // Waves of half the lanes, as the driver takes where a kernel asks for subgroups of 32: it may
  // issue two instructions of a wave at once.
  'navi31 wave32': { family: 'navi31', toggles: [], wave: 32 },
  'navi21 default': { family: 'navi21', toggles: [] },
}

/** The driver that MESA_AMD_DRIVER names, or the system's; undefined with the reason where there is
 * none of Mesa ≥ 24. */
export function findDriver() {
  const named = process.env.MESA_AMD_DRIVER
  const path = named ?? PLACES.map((place) => join(place, DRIVER)).find(existsSync)
  if (process.platform !== 'linux' || !path || !existsSync(path))
    return {
      reason: `it needs Linux and ${DRIVER} of Mesa ${OLDEST_MESA} or later; MESA_AMD_DRIVER names one elsewhere`,
    }
  const version = Number(/Mesa (\d+)\./.exec(stringsOf(path))?.[1])
  if (!(version >= OLDEST_MESA))
    return {
      reason: `${path} is of Mesa ${version || 'of an unknown version'}; it needs ${OLDEST_MESA} or later`,
    }
  return { path, version }
}

/** What the driver says its version is. */
const stringsOf = (path) =>
  spawnSync('grep', ['-a', '-o', '-m', '1', 'Mesa [0-9][0-9.]*', path], { encoding: 'utf8' }).stdout

/** Compiles the kernels of a JSON file in a mode; resolves with what the driver said of each, by
 * name. */
export function compileKernels({ path, version }, kernels, mode, work) {
  const { family, toggles, wave } = MODES[mode]
  return compileWith(path, kernels, toggles, work, {
    RADV_FORCE_FAMILY: family,
    ...(wave && { WAVE: `${wave}`, RADV_PERFTEST: `cswave${wave}` }),
    // Older drivers print machine code only with all that was made before it.
    RADV_DEBUG: `${version >= 25 ? 'asm' : 'shaders'},shaderstats,nocache`,
    LD_LIBRARY_PATH: [dirname(path), process.env.LD_LIBRARY_PATH ?? ''].join(':'),
  })
}

/** The same by Mesa's driver for Intel, which lies beside that for AMD. */
export function compileForIntel({ path }, kernels, work) {
  return compileWith(path, kernels, [], work, {
    LD_PRELOAD: library('null_intel', work),
    INTEL_ID: TIGER_LAKE,
    INTEL_DEBUG: 'cs',
    // What was compiled before says nothing.
    MESA_SHADER_CACHE_DISABLE: 'true',
  })
}

/** Iris Xe of a laptop: 96 units of 8 lanes. */
const TIGER_LAKE = '0x9a49'

/** Mesa's driver for Intel of the version that was found for AMD, where it is installed too. */
export function findIntelDriver({ path, reason }) {
  if (path === undefined) return { reason }
  const intel = join(dirname(path), INTEL_DRIVER)
  return existsSync(intel) ? { path: intel } : { reason: `there is no ${intel}` }
}

function compileWith(path, kernels, toggles, work, env) {
  mkdirSync(work, { recursive: true })
  const manifest = join(work, 'null_device.json')
  const icd = { api_version: '1.3.0', library_path: library('null_device', work) }
  writeFileSync(manifest, JSON.stringify({ file_format_version: '1.0.0', ICD: icd }))
  const child = spawnSync(process.execPath, [join(HERE, 'compile.mjs'), kernels, ...toggles], {
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
    env: { ...process.env, REAL_DRIVER: path, VK_DRIVER_FILES: manifest, ...env },
  })
  const parts = child.stderr.split(/^@@kernel (\w+)\n/m)
  if (child.status !== 0) throw new Error(`${path}: ${parts.at(-1).slice(-2000)}`)
  const said = {}
  for (let i = 1; i < parts.length; i += 2) said[parts[i]] = parts[i + 1]
  return said
}

/** A library of this folder's C, built. */
function library(name, work) {
  const built = join(work, `${name}.so`)
  const source = join(HERE, `${name}.c`)
  const args = ['-O1', '-shared', '-fPIC', '-fvisibility=hidden', '-o', built, source, '-ldl']
  const made = spawnSync('gcc', args, { encoding: 'utf8' })
  if (made.status !== 0) throw new Error(`gcc: ${made.stderr ?? made.error}`)
  return built
}
