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
const needs = (defaults: Readonly<Record<string, string>>, suited = {}) => ({
  adapter,
  defaults,
  suited,
  variants,
})
const choose = (of: ReturnType<typeof needs>, cache?: string, changed = {}) =>
  chooseKernels(of, VERSION, cache, changed)

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

test('a run begins with what is remembered, else with what suits the adapter, and what is measured is remembered', () => {
  const of = needs(
    { [A]: 'plain', [B]: 'plain', [C]: 'plain' },
    { [A]: 'wide', [B]: 'wide', x: 'wide' },
  )
  const other = { nn_m4_n4_k4: 'wide', [A]: 'fast' }
  const choice = choose(of, cacheOf(other))
  expect(choice?.matmul).toEqual({ [A]: 'fast', [B]: 'wide', [C]: 'plain' })
  expect(choice?.settled).toEqual({ [A]: 'fast' })
  // In the middle only what was measured; at the end the other classes as they are. Another
  // experiment's class stays.
  const found = { [B]: 'fast', nn_m7_n7_k7: 'fast' }
  expect(read(choice?.remember(found, false)).get(KEY)).toEqual({ ...other, [B]: 'fast' })
  const cache = choice?.remember(found, true)
  expect(read(cache).get(KEY)).toEqual({ ...other, [B]: 'fast', [C]: 'plain' })
  const again = choose(of, cache)
  expect(again?.matmul).toEqual({ [A]: 'fast', [B]: 'fast', [C]: 'plain' })
  expect(again?.settled).toBeUndefined()
  expect(again?.remember({}, true)).toBe(cache)
})

test('a measurement never replaces what is remembered', () => {
  const choice = choose(needs({ [A]: 'plain', [B]: 'plain' }), cacheOf({ [A]: 'fast' }))
  const cache = choice?.remember({ [A]: 'wide', [B]: 'wide' }, true)
  expect(read(cache).get(KEY)).toEqual({ [A]: 'fast', [B]: 'wide' })
})

test('a run whose document changes kernels later begins as the run did that it repeats', () => {
  const of = needs({ [A]: 'plain', [B]: 'plain' }, { [A]: 'wide' })
  const first = choose(of, cacheOf({ [B]: 'fast' }))
  const cache = first?.remember({ [A]: 'fast' }, true)
  const again = choose(of, cache, { [A]: 'fast' })
  expect(again?.matmul).toEqual(first?.matmul)
  expect(again?.settled).toBeUndefined()
  // On a page that remembers nothing too, as far as the document says it.
  expect(choose(of, undefined, { [A]: 'fast' })?.settled).toBeUndefined()
})

test('each adapter has its own choice, and a few are kept', () => {
  let cache: string | undefined
  const seen: string[] = []
  for (const description of ['a', 'b', 'a', 'c', 'd', 'e', 'f']) {
    const of = { ...needs({ [A]: 'plain' }), adapter: { ...adapter, description } }
    const choice = choose(of, cache)
    if (choice?.settled) seen.push(description)
    cache = choice?.remember(choice.settled ? { [A]: 'fast' } : {}, true)
  }
  expect(seen).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
  expect([...read(cache).keys()].map((key) => key.at(-1))).toEqual(['f', 'e', 'd', 'c'])
})

test('a full cache forgets nothing: new classes are not measured, and the same each time', () => {
  const full = Object.fromEntries(
    Array.from({ length: MAX_CLASSES }, (_, i) => [`nt_add_m999999${i}_n999999999_k99999`, 'fast']),
  )
  const [kept] = Object.keys(full)
  let cache = cacheOf(full)
  for (let i = 0; i < 2; i++) {
    const choice = choose(needs({ [kept]: 'plain', [A]: 'plain' }), cache)
    expect(choice?.matmul).toEqual({ [kept]: 'fast', [A]: 'plain' })
    expect(choice?.settled).toBeUndefined()
    cache = choice?.remember({}, true) ?? ''
    expect(read(cache).get(KEY)).toEqual(full)
  }
  // Four adapters of this kind are still read.
  expect(4 * cache.length).toBeLessThan(MAX_CACHE_LENGTH)
})

test('a software adapter has default kernels, and nothing is measured', () => {
  const of = { ...needs({ [A]: 'plain' }), adapter: { ...adapter, is_software: true } }
  expect(choose(of, cacheOf({ [A]: 'fast' }))).toBeUndefined()
})
