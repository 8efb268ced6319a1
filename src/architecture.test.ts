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

/** Names, types and plain arithmetic in folders that know a device. They load nothing but each
 * other. */
const PLAIN = [
  'kernels/device/base/errors.ts',
  'kernels/matmul/variant_names.ts',
  'kernels/optimizer/control.ts',
  'kernels/sampling/philox.ts',
  'rl/look/observation.ts',
]
/** Folders that know no device. The page may load them: they load nothing but each other, formats,
 * tasks and what is plain. */
const DEVICE_FREE = [
  'kernels/policy_loss/aggregations/',
  'model/layout/',
  'model/hf/',
  'rl/math/',
  'rl/preferences/',
  'rl/reward/pairs.ts',
  'rl/reward/phase_pairs.ts',
  'rl/reward/preferences.ts',
  'rl/estimators/',
  'rl/losses/',
  'rl/fields/',
  'rl/config/',
]

const IMPORT = /import\s+(type\s)?[^'"]*['"]([^'"]+)['"]/g
const isTest = (file: string) => /\.(test|setup)\.tsx?$/.test(file) || file.endsWith('/testing.ts')
const isRef = (file: string) => /\.ref\.ts$/.test(file)
/** `lab conform` shows the references' errors beside the kernels'; nothing of the page imports
 * cli. */
const showsRefs = (file: string) => file.startsWith('conformance/')
const isDeviceFree = (file: string) =>
  (PLAIN.includes(file) || DEVICE_FREE.some((folder) => file.startsWith(folder))) &&
  !isTest(file) &&
  !isRef(file)
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

test.for(files)('%s', (file) => {
  const source = readFileSync(pathOf(file), 'utf8')
  const home = file.split('/')[0]
  for (const [, typeOnly, specifier] of source.matchAll(IMPORT)) {
    const rule = (holds: boolean, why: string) =>
      expect(holds, `${file} imports ${specifier}: ${why}`).toBe(true)
    if (!specifier.startsWith('.')) {
      rule(!/^react/.test(specifier) || home === 'ui', 'React belongs to ui')
      continue
    }
    const target = nameOf(posix.join(posix.dirname(pathOf(file)), specifier))
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
        isDeviceFree(target) ||
        file === 'host/worker/worker.ts' ||
        !!typeOnly,
      'only the worker may load the GPU side; tasks are pure',
    )
    rule(
      !isDeviceFree(file) ||
        !!typeOnly ||
        ['formats', 'tasks'].includes(layer) ||
        isDeviceFree(target),
      'the page may load this file, so it must know no device',
    )
    rule(
      !PLAIN.includes(file) || !!typeOnly || PLAIN.includes(target),
      'names and plain arithmetic load nothing else',
    )
  }
  if (!file.startsWith('kernels/device/') && !isTest(file))
    expect(source, `${file}: only kernels/device/ talks to the device`).not.toMatch(
      /navigator\.gpu|GPUDevice|createComputePipeline/,
    )
})
