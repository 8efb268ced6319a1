import { expect, test } from 'vitest'

import {
  adapterKey,
  chooseKernels,
  MAX_CACHE_LENGTH,
  MAX_CLASSES,
  readChoices,
} from './kernel_choice.ts'

const adapter = {
  vendor: 'nvidia',
  architecture: 'hopper',
  description: '',
  is_software: false,
  features: [],
  max_buffer_bytes: 0,
  max_binding_bytes: 0,
  has_subgroups: false,
  has_f16: false,
}
const KEY = adapterKey(adapter)
const VERSION = 'Understory 1, Chrome 142'
const variants = new Set(['plain', 'fast', 'wide'])
const [A, B, C] = ['nt_m64_n32_k16', 'tn_m32_n16_k64', 'nt_add_m8_n16_k32']
const cacheOf = (choice: unknown, version: unknown = VERSION) =>
  JSON.stringify({ version, matmul: { [KEY]: choice } })
const read = (cache: string | undefined) => readChoices(cache, VERSION, variants)
/** Records what was asked for. */
const tuner = (found: Readonly<Record<string, string>>) => {
  const asked: Readonly<Record<string, string>>[] = []
  const tune = async (pinned: Readonly<Record<string, string>>) => {
    asked.push(pinned)
    return { ...found, ...pinned }
  }
  return { asked, tune }
}

test('only names of classes and variants are read', () => {
  const hostile = {
    [A]: 'fast',
    [B]: 'no_such_variant',
    [C]: 3,
    '*': 'fast',
    nt_m64_n32: 'fast',
    nn_m1_n1_k9999999999: 'fast',
    'nn_m1_n1_k1\n': 'fast',
    'x nn_m1_n1_k1': 'fast',
    constructor: 'fast',
    nn_m1_n1_k1: 'toString',
    nn_m1_n1_k2: ['fast'],
    nn_m1_n1_k4: null,
  }
  expect(read(cacheOf(hostile))).toEqual(new Map([[KEY, { [A]: 'fast' }]]))
  const proto = `{"version":"${VERSION}","matmul":{"__proto__":{"${A}":"fast"},"${KEY}":{"__proto__":{"${B}":"fast"}}}}`
  expect(read(proto).get(KEY)).toEqual({})
  expect(({} as Record<string, unknown>)[A]).toBeUndefined()
})

test('anything else is no cache', () => {
  const odd = [undefined, '', '{', 'null', '7', '"x"', '[]', '{}', '[{"version":1}]']
  for (const cache of odd) expect(read(cache).size, `${cache}`).toBe(0)
  expect(read(JSON.stringify({ version: VERSION, matmul: [{ [A]: 'fast' }] })).size).toBe(0)
  expect(read(cacheOf({ [A]: 'fast' }, 'Understory 1, Chrome 143')).size).toBe(0)
  expect(read(cacheOf({ [A]: 'fast' }, [VERSION])).size).toBe(0)
  for (const choice of [null, 'fast', ['fast']]) expect(read(cacheOf(choice)).get(KEY)).toEqual({})
  const good = cacheOf({ [A]: 'fast' })
  expect(read(good + ' '.repeat(MAX_CACHE_LENGTH - good.length)).size).toBe(1)
  expect(read(good + ' '.repeat(MAX_CACHE_LENGTH - good.length + 1)).size).toBe(0)
  expect(read('['.repeat(MAX_CACHE_LENGTH)).size).toBe(0)
  // Not even a string, should the page's storage be replaced.
  expect(readChoices({} as string, VERSION, variants).size).toBe(0)
})

test('what is remembered is used, the rest is measured, and both are remembered', async () => {
  const { asked, tune } = tuner({ [B]: 'wide', nn_m7_n7_k7: 'fast' })
  const defaults = { [A]: 'plain', [B]: 'plain', [C]: 'plain' }
  const other = { nn_m4_n4_k4: 'wide', [A]: 'fast' }
  const choice = await chooseKernels({ adapter, defaults, variants }, VERSION, cacheOf(other), tune)
  expect(asked).toEqual([{ [A]: 'fast' }])
  expect(choice?.matmul).toEqual({ [A]: 'fast', [B]: 'wide', [C]: 'plain' })
  // Another experiment's class stays.
  expect(read(choice?.cache).get(KEY)).toEqual({ nn_m4_n4_k4: 'wide', ...choice?.matmul })
  const again = await chooseKernels({ adapter, defaults, variants }, VERSION, choice?.cache, tune)
  expect(again).toEqual(choice)
  expect(asked).toHaveLength(1)
})

test('a measurement never replaces what is remembered', async () => {
  const defaults = { [A]: 'plain', [B]: 'plain' }
  const cache = cacheOf({ [A]: 'fast' })
  const choice = await chooseKernels({ adapter, defaults, variants }, VERSION, cache, async () => ({
    [A]: 'wide',
    [B]: 'wide',
  }))
  expect(choice?.matmul).toEqual({ [A]: 'fast', [B]: 'wide' })
})

test('each adapter has its own choice, and a few are kept', async () => {
  let cache: string | undefined
  const seen: string[] = []
  for (const description of ['a', 'b', 'a', 'c', 'd', 'e', 'f']) {
    const needs = { adapter: { ...adapter, description }, defaults: { [A]: 'plain' }, variants }
    const choice = await chooseKernels(needs, VERSION, cache, async () => {
      seen.push(description)
      return { [A]: 'fast' }
    })
    cache = choice?.cache
  }
  expect(seen).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
  expect([...read(cache).keys()].map((key) => key.at(-1))).toEqual(['f', 'e', 'd', 'c'])
})

test('a full cache forgets nothing: new classes run on default kernels, the same each time', async () => {
  const full = Object.fromEntries(
    Array.from({ length: MAX_CLASSES }, (_, i) => [`nt_add_m999999${i}_n999999999_k99999`, 'fast']),
  )
  const { asked, tune } = tuner({ [A]: 'wide' })
  const [kept] = Object.keys(full)
  const defaults = { [kept]: 'plain', [A]: 'plain' }
  let cache = cacheOf(full)
  for (let i = 0; i < 2; i++) {
    const choice = await chooseKernels({ adapter, defaults, variants }, VERSION, cache, tune)
    expect(choice?.matmul).toEqual({ [kept]: 'fast', [A]: 'plain' })
    expect(read(choice?.cache).get(KEY)).toEqual(full)
    cache = choice?.cache ?? ''
  }
  expect(asked).toEqual([])
  // Four adapters of this kind are still read.
  expect(4 * cache.length).toBeLessThan(MAX_CACHE_LENGTH)
})

test('a software adapter measures nothing', async () => {
  const { asked, tune } = tuner({ [A]: 'fast' })
  const needs = { adapter: { ...adapter, is_software: true }, defaults: { [A]: 'plain' }, variants }
  expect(await chooseKernels(needs, VERSION, cacheOf({ [A]: 'fast' }), tune)).toBeUndefined()
  expect(asked).toEqual([])
})
