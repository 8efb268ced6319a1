// LoRA adapters that strangers may hand the lab, spoilt at random or on purpose: refused with file
// and field, or merged to finite weights.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ModelFileError } from '../formats/errors.ts'
import { writeSafetensors } from '../formats/safetensors_write.ts'
import { readAdapter, withAdapter } from '../model/hf/peft_adapter.ts'
import { bytesOf, directory, readModel, savedModel, source } from '../model/hf/testing.ts'
import { TINY } from '../model/testing.ts'
import { spoiltBytes, spoiltValue } from './spoil/testing.ts'

const RUNS = Number(process.env.HOSTILE_RUNS ?? 300)
const SLOW = { timeout: 120_000 * Math.max(1, RUNS / 1000) }

const { json, named } = savedModel(TINY)
const model = await readModel(directory(json, named))
const Q = 'model.layers.0.self_attn.q_proj'
const [out, columns] = model.layout.params.find(({ name }) => name === `${Q}.weight`)?.shape ?? []
const CONFIG = {
  peft_type: 'LORA',
  r: 2,
  lora_alpha: 4,
  target_modules: ['q_proj'],
  use_rslora: false,
  rank_pattern: { q_proj: 2 },
  alpha_pattern: {},
  bias: 'none',
}
const factorsOf = (value: number) =>
  writeSafetensors([
    [
      `base_model.model.${Q}.lora_A.weight`,
      { shape: [2, columns], data: filled(2 * columns, value) },
    ],
    [`base_model.model.${Q}.lora_B.weight`, { shape: [out, 2], data: filled(out * 2, value) }],
  ])
const filled = (size: number, value: number) => new Float32Array(size).fill(value)

const adapterOf = (config: Uint8Array, factors: Uint8Array) =>
  source(
    new Map([
      ['adapter_config.json', config],
      ['adapter_model.safetensors', factors],
    ]),
  )

/** Merges an adapter and reads it for training: both end with finite numbers, or with the file that
 * is wrong. */
async function expectSound(config: Uint8Array, factors: Uint8Array): Promise<void> {
  try {
    const { weights } = await withAdapter(model, adapterOf(config, factors))
    expect(weights.every(Number.isFinite)).toBe(true)
    const { lora } = await readAdapter(adapterOf(config, factors), model.layout)
    expect(lora.r).toBe(2)
    expect(Number.isFinite(lora.lora_alpha)).toBe(true)
  } catch (error) {
    if (!(error instanceof ModelFileError)) throw error
    expect(error.message).toMatch(/adapter_config\.json|adapter_model\.safetensors/)
    expect(error.message.length).toBeLessThan(2000)
  }
}

test('a sound adapter is sound', async () => {
  const { weights } = await withAdapter(model, adapterOf(bytesOf(CONFIG), factorsOf(0.1)))
  expect(weights).not.toEqual(model.weights)
})

test('settings spoilt at random', SLOW, async () => {
  await fc.assert(
    fc.asyncProperty(spoiltValue(CONFIG), (spoilt) =>
      expectSound(bytesOf(spoilt as object), factorsOf(0.1)),
    ),
    { numRuns: RUNS },
  )
})

test('factors spoilt at random', SLOW, async () => {
  const sound = factorsOf(0.1)
  await fc.assert(
    fc.asyncProperty(spoiltBytes(sound), (spoilt) => expectSound(bytesOf(CONFIG), spoilt)),
    { numRuns: RUNS },
  )
})

describe('on purpose', () => {
  const text = (config: string) => new TextEncoder().encode(config)
  test.for<[why: string, config: Uint8Array, factors: Uint8Array, message: RegExp]>([
    [
      'factors that are not finite',
      bytesOf(CONFIG),
      factorsOf(Number.NaN),
      /lora_A.*finite numbers, found NaN/,
    ],
    ['factors whose product is not', bytesOf(CONFIG), factorsOf(3e38), /q_proj.*not finite/],
    [
      'an alpha that is too large for a number',
      text(JSON.stringify(CONFIG).replace('"lora_alpha":4', '"lora_alpha":1e999')),
      factorsOf(1),
      /lora_alpha: expected/,
    ],
    [
      'an alpha of a module that is',
      text(
        JSON.stringify(CONFIG).replace('"alpha_pattern":{}', '"alpha_pattern":{"q_proj":1e999}'),
      ),
      factorsOf(1),
      /alpha_pattern\.q_proj: expected/,
    ],
    [
      'a pattern that is an expression',
      bytesOf({ ...CONFIG, rank_pattern: { '(a+)+$': 2 } }),
      factorsOf(1),
      /rank_pattern: expected names of modules/,
    ],
    [
      'a rank beyond all use',
      bytesOf({ ...CONFIG, r: 2 ** 40 }),
      factorsOf(1),
      /r: expected a whole number/,
    ],
  ])('%s are refused by name', async ([, config, factors, message]) => {
    await expect(withAdapter(model, adapterOf(config, factors))).rejects.toThrow(message)
    await expect(withAdapter(model, adapterOf(config, factors))).rejects.toBeInstanceOf(
      ModelFileError,
    )
  })
})
