// The layering, as a test. ARCHITECTURE.md says why; this file says what.
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { expect, test } from 'vitest'

const GPU_SIDE = ['kernels', 'model', 'rl']
/** A folder may import from itself and from the folders listed for it. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  formats: [],
  kernels: [],
  tasks: ['formats'],
  model: ['formats', 'kernels'],
  rl: ['formats', 'kernels', 'model', 'tasks'],
  document: ['formats', 'tasks', ...GPU_SIDE],
  host: ['formats', 'tasks', ...GPU_SIDE, 'document'],
  record: ['formats', 'tasks', ...GPU_SIDE, 'document', 'host'],
  jobs: ['formats', 'tasks', ...GPU_SIDE, 'document', 'host', 'record'],
  page: ['formats', 'tasks', ...GPU_SIDE, 'document', 'host', 'record'],
  ui: ['formats', 'document', 'host', 'record', 'jobs', 'page'],
  cli: [
    'formats',
    'tasks',
    ...GPU_SIDE,
    'document',
    'host',
    'record',
    'jobs',
    'conformance',
    'tools',
  ],
  tools: ['formats', 'tasks', ...GPU_SIDE, 'document', 'host', 'record', 'jobs', 'cli'],
  conformance: ['formats', 'tasks', ...GPU_SIDE, 'document', 'host', 'jobs', 'cli'],
}
/** What the page loads, and what runs without a device: of the GPU side it takes what needs
 * none. */
const BESIDE_GPU = ['document', 'host', 'record', 'jobs', 'page']

const IMPORT = /(?:import|export)\s+(type\s)?[^'"]*\sfrom\s+['"]([^'"]+)['"]/g
const isTest = (file: string) => /\.(test|setup)\.tsx?$/.test(file) || file.endsWith('/testing.ts')
const isRef = (file: string) => /\.ref\.ts$/.test(file)
/** `lab conform` shows the references' errors beside the kernels'; nothing of the page imports
 * cli. */
const showsRefs = (file: string) => file.startsWith('conformance/')
/** Paths in src without that folder's name, and those of conformance and tools. */
const nameOf = (path: string) => path.replace(/^src\//, '')
const pathOf = (file: string) =>
  /^(conformance|tools)\//.test(file) ? file : posix.join('src', file)
const files = ['src', 'conformance', 'tools']
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((f) => posix.join(folder, f)),
  )
  .map(nameOf)
  .filter((f) => /\.tsx?$/.test(f) && f.includes('/'))

const sources = new Map(files.map((file) => [file, readFileSync(pathOf(file), 'utf8')]))
/** What a file imports: whether only a type, the path as it is written, and the file. */
const importsOf = (file: string) =>
  [...(sources.get(file) ?? '').matchAll(IMPORT)].map(([, typeOnly, specifier]) => ({
    typeOnly: !!typeOnly,
    specifier,
    target: specifier.startsWith('.')
      ? nameOf(posix.join(posix.dirname(pathOf(file)), specifier))
      : undefined,
  }))

/** A shader of the kernels, or what talks to a device; `device/base` only says what kernels and
 * tensors are. */
const needsDevice = (file: string) => /^kernels\/(.*\.wgsl\b|device\/(?!base\/))/.test(file)
/** The way from a file to the shader or device that it loads, over whatever it imports; empty where
 * it loads none. */
const ways = new Map<string, readonly string[]>()
function wayToDevice(file: string): readonly string[] {
  const known = ways.get(file)
  if (known) return known
  ways.set(file, [])
  const loaded = importsOf(file).flatMap(({ typeOnly, target }) =>
    typeOnly || target === undefined ? [] : [target],
  )
  const needed = loaded.find(needsDevice)
  const next = needed ? [needed] : loaded.map(wayToDevice).find((way) => way.length > 0)
  const way = needsDevice(file) ? [file] : next ? [file, ...next] : []
  ways.set(file, way)
  return way
}

test('what loads a device is told from what does not, over other files too', () => {
  const from = (file: string) => wayToDevice(file).at(-1) ?? ''
  expect(from('kernels/device/gpu.ts')).toBe('kernels/device/gpu.ts')
  expect(from('kernels/softmax/softmax.ts')).toMatch(/\.wgsl\?raw$/)
  expect(from('rl/train/trainer.ts')).not.toBe('')
  expect(from('rl/losses/losses.ts')).toBe('')
})

test.for(files)('%s', (file) => {
  const source = sources.get(file) ?? ''
  const home = file.split('/')[0]
  for (const { typeOnly, specifier, target } of importsOf(file)) {
    const rule = (holds: boolean, why: string) =>
      expect(holds, `${file} imports ${specifier}: ${why}`).toBe(true)
    if (target === undefined) {
      rule(!/^react/.test(specifier) || home === 'ui', 'React belongs to ui')
      continue
    }
    if (target === 'package.json') continue
    const layer = target.split('/')[0]
    rule(
      layer === home ||
        MAY_IMPORT[home].includes(layer) ||
        // Helpers of tests are for every test.
        (isTest(file) && isTest(target)) ||
        // A test may try a thing through what uses it.
        (isTest(file) && [...BESIDE_GPU, 'cli'].includes(home) && BESIDE_GPU.includes(layer)),
      `${home} may import only ${MAY_IMPORT[home].join(', ') || 'itself'}`,
    )
    rule(
      isTest(file) || isRef(file) || !(isTest(target) || (isRef(target) && !showsRefs(file))),
      'references and test helpers are for tests',
    )
    rule(
      home !== 'cli' || layer !== 'conformance' || file === 'cli/conform.ts' || isTest(file),
      'one command runs the goldens',
    )
    rule(
      home !== 'cli' || layer !== 'tools' || file === 'cli/commands.ts' || isTest(file),
      'the list of commands has those of maintainers',
    )
    rule(target !== 'host/worker/worker.ts', 'the worker is started, never imported')
    rule(
      !BESIDE_GPU.includes(home) ||
        !GPU_SIDE.includes(layer) ||
        typeOnly ||
        file === 'host/worker/worker.ts' ||
        isTest(file) ||
        wayToDevice(target).length === 0,
      `only the worker may load a device: ${wayToDevice(target).join(' → ')}`,
    )
  }
  if (!file.startsWith('kernels/device/') && !isTest(file))
    expect(source, `${file}: only kernels/device/ talks to the device`).not.toMatch(
      /navigator\.gpu|GPUDevice|createComputePipeline/,
    )
})
