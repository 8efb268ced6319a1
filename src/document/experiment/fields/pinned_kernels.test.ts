import fc from 'fast-check'
import { expect, test } from 'vitest'
import { VARIANT_NAMES } from '../../../kernels/matmul/variant_names.ts'
import { parseExperiment } from '../experiment.ts'
import {
  MAX_KERNELS_LENGTH,
  ownKernels,
  pinnedKernels,
  readKernels,
  unusablePin,
  writeKernels,
} from './pinned_kernels.ts'

const A = 'nn_m64_n32_k16'
const B = 'nt_add_m8_n32_k16'

test('a class and its kernel, in one order however they came, every other class last', () => {
  const choice = { '*': 'vector_8x8', [B]: 'skinny_8x16', [A]: 'slices_16x16' }
  const text = `${A}:slices_16x16,${B}:skinny_8x16,*:vector_8x8`
  expect(writeKernels(choice)).toBe(text)
  expect(readKernels(text)).toEqual({ ok: true, choice })
  expect(readKernels(text.replaceAll(',', ', '))).toEqual({ ok: true, choice })
})

test('no text leaves the choice open; the default kernels are a choice too', () => {
  expect(readKernels('')).toEqual({ ok: true, choice: undefined })
  expect(readKernels('default')).toEqual({ ok: true, choice: {} })
  expect(writeKernels({})).toBe('default')
})

test('what was written is read back, and written the same again', () => {
  const size = fc.integer({ min: 1, max: 999_999_999 })
  const shapeClass = fc
    .tuple(fc.constantFrom('nn', 'nt', 'tn', 'nt_add'), size, size, size)
    .map(([op, m, n, k]) => `${op}_m${m}_n${n}_k${k}`)
  const choices = fc.dictionary(
    fc.oneof({ weight: 9, arbitrary: shapeClass }, fc.constant('*')),
    fc.constantFrom<string>(...VARIANT_NAMES),
    { maxKeys: 60 },
  )
  fc.assert(
    fc.property(choices, (choice) => {
      const text = writeKernels(choice)
      const read = readKernels(text)
      expect(read).toEqual({ ok: true, choice })
      if (read.ok) expect(writeKernels(read.choice ?? {})).toBe(text)
    }),
  )
})

test('what cannot be read is refused with the entry and what to do', () => {
  const cases: readonly (readonly [text: string, entry: string, expected: RegExp])[] = [
    [
      `${A}:vector_4x4,${B}:vector_9x9`,
      `entry 2 is '${B}:vector_9x9'`,
      /one of these .*skinny_8x16/,
    ],
    [`${A}:toString`, `entry 1 is '${A}:toString'`, /one of these/],
    [`${A}:default`, `entry 1 is '${A}:default'`, /one of these/],
    ['nt_m64_n32:vector_4x4', "entry 1 is 'nt_m64_n32:", /sizes before the colon/],
    ['tt_m64_n32_k16:vector_4x4', "entry 1 is 'tt_m64", /nn, nt, tn or nt_add/],
    ['__proto__:vector_4x4', "entry 1 is '__proto__", /sizes before the colon/],
    [`${A}:vector_4x4,`, "entry 2 is ''", /one colon between them/],
    ['Default', "entry 1 is 'Default'", /'default' alone/],
    ['default,default', "entry 1 is 'default'", /'default' alone/],
    [`${A}:vector_4x4:skinny_8x16`, 'entry 1', /one colon between them/],
    [`${A}:vector_4x4,*:vector_4x4,${A}:vector_8x8`, 'entry 3', /every class once; take/],
    [`x${'y'.repeat(3000)}`, `entry 1 is 'x${'y'.repeat(59)}…'`, /one colon/],
  ]
  for (const [kernels, entry, expected] of cases) {
    const parsed = parseExperiment({ kernels })
    expect(parsed.ok, kernels).toBe(false)
    if (parsed.ok) continue
    expect(parsed.issues).toHaveLength(1)
    const [{ path, message }] = parsed.issues
    expect(path).toBe('kernels')
    expect(message).toContain(entry)
    expect(message).toMatch(expected)
  }
  expect(parseExperiment({ kernels: 'x'.repeat(MAX_KERNELS_LENGTH + 1) })).toMatchObject({
    issues: [{ path: 'kernels', message: 'expected at most 4000 characters, got 4001' }],
  })
  expect(parseExperiment({ kernels: 3 })).toMatchObject({ issues: [{ path: 'kernels' }] })
})

test('an experiment pins what its field says', () => {
  const pinned = (kernels?: string) => {
    const parsed = parseExperiment({ ...(kernels !== undefined && { kernels }) })
    return parsed.ok ? pinnedKernels(parsed.experiment) : 'refused'
  }
  expect(pinned()).toBeUndefined()
  expect(pinned('default')).toEqual({})
  expect(pinned('*:slices_16x16')).toEqual({ '*': 'slices_16x16' })
})

test('kernels that a run has by default need no entry', () => {
  const defaults = { [A]: 'vector_8x8', [B]: 'register_8x8' }
  expect(ownKernels({ [A]: 'vector_8x8', [B]: 'skinny_8x16' }, defaults)).toEqual({
    [B]: 'skinny_8x16',
  })
  expect(ownKernels(defaults, defaults)).toEqual({})
})

test('a kernel that the adapter cannot run is named, with the feature and the way out', () => {
  const missing = (variant: string) => (variant.startsWith('subgroups_') ? ['subgroups'] : [])
  expect(unusablePin({ [A]: 'vector_4x4' }, missing)).toBeUndefined()
  expect(unusablePin({ [A]: 'vector_4x4', [B]: 'subgroups_8x16' }, missing)).toMatch(
    /^kernels: nt_add_m8_n32_k16:subgroups_8x16 needs subgroups, .*Empty the field .*'default'/,
  )
})
