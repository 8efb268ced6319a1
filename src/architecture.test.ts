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
  cli: ['formats', 'tasks', ...GPU_SIDE, 'document', 'host', 'record', 'jobs', 'conformance'],
  conformance: ['formats', 'tasks', ...GPU_SIDE, 'document', 'host', 'cli'],
}
/** What the page loads, and what runs without a device: of the GPU side it takes what needs none. */
const BESIDE_GPU = ['document', 'host', 'record', 'jobs', 'page']

/** Types and constants that the page may load without the GPU side: they import types alone. */
const PURE = [
  'kernels/device/errors.ts',
  'kernels/matmul/variant_names.ts',
  'kernels/optimizer/control.ts',
  'rl/look/observation.ts',
  'rl/look/suggested_layer.ts',
]

/** File formats and sizes: they need no device, and load nothing but each other and plain arithmetic. */
const FORMATS = [
  'formats/first_bytes.ts',
  'model/adapter/adapter_layout.ts',
  'model/adapter/lora.ts',
  'model/adapter/merge.ts',
  'model/params/config.ts',
  'model/params/errors.ts',
  'model/hf/float_bits.ts',
  'model/params/flat_params.ts',
  'model/hf/hf_config.ts',
  'model/hf/out_file.ts',
  'model/hf/peft_config.ts',
  'model/params/params.ts',
  'model/hf/safetensors.ts',
  'model/hf/safetensors_header.ts',
  'model/hf/safetensors_write.ts',
  'model/hf/stream/ranged_file.ts',
  'model/hf/write_adapter.ts',
  'model/hf/write_config.ts',
  'model/hf/write_model.ts',
  'model/hf/write_tokenizer.ts',
]
/** Folders that know no device. The page may load them: they load nothing but each other, formats and plain arithmetic. */
const DEVICE_FREE = [
  'kernels/policy_loss/aggregations/',
  ...[
    'rl/math/',
    'rl/estimators/',
    'rl/losses/',
    'rl/preferences/',
    'rl/config/',
    'rl/metrics/validation_metrics.ts',
  ],
]
/** It says which segments of a transformer are trained, so it loads that. */
const KNOWS_TRANSFORMER = 'rl/config/trained_segments.ts'
const ARITHMETIC = [
  'kernels/device/errors.ts',
  'kernels/optimizer/control.ts',
  'kernels/sampling/philox.ts',
]

const IMPORT = /import\s+(type\s)?[^'"]*['"]([^'"]+)['"]/g
const isTest = (file: string) => /\.(test|setup)\.tsx?$/.test(file) || file.endsWith('/testing.ts')
const isRef = (file: string) => /\.ref\.ts$/.test(file)
/** `lab conform` shows the references' errors beside the kernels'; nothing of the page imports cli. */
const showsRefs = (file: string) => file.startsWith('conformance/')
const isDeviceFree = (file: string) =>
  DEVICE_FREE.some((folder) => file.startsWith(folder)) &&
  file !== KNOWS_TRANSFORMER &&
  !isTest(file) &&
  !isRef(file)
/** Paths in src without that folder's name, and those of conformance. */
const nameOf = (path: string) => path.replace(/^src\//, '')
const pathOf = (file: string) => (file.startsWith('conformance/') ? file : posix.join('src', file))
const files = ['src', 'conformance']
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
    rule(!PURE.includes(file) || !!typeOnly, 'this file must load nothing')
    if (target === 'package.json') continue
    const layer = target.split('/')[0]
    rule(
      layer === home ||
        MAY_IMPORT[home].includes(layer) ||
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
    rule(target !== 'host/worker/worker.ts', 'the worker is started, never imported')
    rule(
      !BESIDE_GPU.includes(home) ||
        !GPU_SIDE.includes(layer) ||
        PURE.includes(target) ||
        FORMATS.includes(target) ||
        isDeviceFree(target) ||
        file === 'host/worker/worker.ts' ||
        !!typeOnly,
      'only the worker may load the GPU side; tasks are pure',
    )
    rule(
      !isDeviceFree(file) ||
        !!typeOnly ||
        isDeviceFree(target) ||
        [...FORMATS, ...ARITHMETIC].includes(target),
      'the page may load this file, so it must know no device',
    )
    rule(
      !FORMATS.includes(file) || !!typeOnly || [...FORMATS, ...ARITHMETIC].includes(target),
      'the page may load this file, so it must stay apart from the GPU side',
    )
  }
  if (!file.startsWith('kernels/device/') && !isTest(file))
    expect(source, `${file}: only kernels/device/ talks to the device`).not.toMatch(
      /navigator\.gpu|GPUDevice|createComputePipeline/,
    )
})
