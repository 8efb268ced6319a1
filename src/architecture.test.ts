// The layering, as a test. ARCHITECTURE.md says why; this file says what.
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { expect, test } from 'vitest'

/** A folder may import from itself and from the folders listed for it. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  kernels: [],
  tasks: [],
  model: ['kernels'],
  rl: ['kernels', 'model', 'tasks'],
  lab: ['kernels', 'model', 'tasks', 'rl'],
  ui: ['lab'],
  cli: ['kernels', 'model', 'tasks', 'rl', 'lab'],
}

/** Types and constants that the page may load without the GPU side: they import types alone. */
const PURE = [
  'kernels/errors.ts',
  'kernels/matmul/variant_names.ts',
  'kernels/optimizer/control.ts',
  'rl/observation.ts',
  'rl/phase.ts',
  'rl/schedule.ts',
  'rl/suggested_layer.ts',
  'rl/token_loss.ts',
]

/** File formats and sizes: they need no device, and load nothing but each other and plain arithmetic. */
const FORMATS = [
  'model/config.ts',
  'model/errors.ts',
  'model/float_bits.ts',
  'model/params.ts',
  'model/safetensors.ts',
]
const ARITHMETIC = ['kernels/errors.ts', 'kernels/sampling/philox.ts']

const IMPORT = /import\s+(type\s)?[^'"]*['"]([^'"]+)['"]/g
const isTest = (file: string) => /\.(test|setup)\.tsx?$/.test(file) || file.endsWith('/testing.ts')
const isRef = (file: string) => /\.ref\.ts$/.test(file)
/** `lab conform` shows the references' errors beside the kernels'; nothing of the page imports cli. */
const showsRefs = (file: string) => file.startsWith('cli/conform/')
const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
  (f) => /\.tsx?$/.test(f) && f.includes('/'),
)

test.for(files)('%s', (file) => {
  const source = readFileSync(posix.join('src', file), 'utf8')
  const home = file.split('/')[0]
  for (const [, typeOnly, specifier] of source.matchAll(IMPORT)) {
    const rule = (holds: boolean, why: string) =>
      expect(holds, `${file} imports ${specifier}: ${why}`).toBe(true)
    if (!specifier.startsWith('.')) {
      rule(!/^react/.test(specifier) || home === 'ui', 'React belongs to ui')
      continue
    }
    const target = posix.join(posix.dirname(file), specifier)
    rule(!PURE.includes(file) || !!typeOnly, 'this file must load nothing')
    if (target === '../package.json') continue
    const layer = target.split('/')[0]
    rule(
      layer === home || MAY_IMPORT[home].includes(layer),
      `${home} may import only ${MAY_IMPORT[home].join(', ') || 'itself'}`,
    )
    rule(
      isTest(file) || isRef(file) || !(isTest(target) || (isRef(target) && !showsRefs(file))),
      'references and test helpers are for tests',
    )
    rule(target !== 'lab/worker.ts', 'the worker is started, never imported')
    rule(
      layer === home ||
        home !== 'lab' ||
        layer === 'tasks' ||
        PURE.includes(target) ||
        FORMATS.includes(target) ||
        file === 'lab/worker.ts' ||
        !!typeOnly,
      'only the worker may load the GPU side; tasks are pure',
    )
    rule(
      !FORMATS.includes(file) || !!typeOnly || [...FORMATS, ...ARITHMETIC].includes(target),
      'the page may load this file, so it must stay apart from the GPU side',
    )
  }
  if (!['kernels/gpu.ts', 'kernels/errors.ts'].includes(file) && !isTest(file))
    expect(source, `${file}: only kernels/gpu.ts talks to the device`).not.toMatch(
      /navigator\.gpu|GPUDevice|createComputePipeline/,
    )
})
