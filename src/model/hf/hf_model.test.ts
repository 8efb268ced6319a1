import { describe, expect, test } from 'vitest'
import { unpackWeights } from '../layout/params.ts'
import { CONFIGS, TINY } from '../testing.ts'
import { readHfModel } from './hf_model.ts'
import {
  but,
  bytesOf,
  directory,
  type Named,
  readModel,
  SHARDS,
  savedModel,
  sharded,
  source,
} from './testing.ts'

describe('a model comes back', () => {
  test.each(CONFIGS.map((config) => [config.model_type, config] as const))(
    '%s',
    async (_, config) => {
      const { json, named, flat, layout } = savedModel(config)
      const back = await readModel(directory(json, named))
      expect(back.config).toEqual(config)
      expect(back.layout).toEqual(layout)
      expect(back.weights).toEqual(flat)
      expect(back).toMatchObject({ head: 'lm_head', dtype: 'F32', eos_token_ids: [2] })
      expect(back).not.toHaveProperty('pad_token_id')
    },
  )

  test.each(['value_head', 'reward_head'] as const)('with a %s', async (head) => {
    for (const config of CONFIGS) {
      const { json, named, flat, layout } = savedModel(config, head)
      const back = await readModel(directory(json, named), head)
      expect(back.weights).toEqual(flat)
      expect(back.layout).toEqual(layout)
      expect(back.head).toBe(head)
    }
  })

  test('from 16-bit files, rounded', async () => {
    const { json, named, layout, flat } = savedModel()
    for (const dtype of ['F16', 'BF16'] as const) {
      const back = await readModel(directory(json, named, dtype))
      expect(back.dtype).toBe(dtype)
      const values = unpackWeights(layout, back.weights)
      // Values are below 2, so half the last bit is 2^-11 and 2^-8 of that at most.
      const error = dtype === 'F16' ? 2 ** -11 : 2 ** -8
      for (const [name, exact] of Object.entries(unpackWeights(layout, flat)))
        exact.forEach((x, i) => {
          expect(Math.abs(values[name][i] - x)).toBeLessThanOrEqual(error)
        })
    }
  })

  test('from shards, each read once', async () => {
    const { json, named, flat } = savedModel()
    const files = source(sharded(json, named))
    expect((await readHfModel(files)).weights).toEqual(flat)
    for (const shard of SHARDS) expect(files.asked.filter((name) => name === shard)).toHaveLength(1)
  })

  test('in both spellings of the rotary embedding', async () => {
    const { named, json } = savedModel()
    const { rope_theta, ...rest } = json
    const rope_scaling = {
      rope_type: 'llama3' as const,
      factor: 8,
      low_freq_factor: 1,
      high_freq_factor: 4,
      original_max_position_embeddings: 16,
    }
    const old = await readModel(directory({ ...json, rope_scaling }, named))
    const recent = { ...rest, rope_parameters: { ...rope_scaling, rope_theta } }
    expect(old.config).toEqual({ ...TINY, rope_scaling })
    expect((await readModel(directory(recent, named))).config).toEqual(old.config)
  })

  test('with the tokens of generation_config.json first', async () => {
    const { json, named } = savedModel()
    const files = directory({ ...json, pad_token_id: 3 }, named)
    const generation = async (fields: object) => {
      const { eos_token_ids, pad_token_id } = await readModel(
        but(files, { 'generation_config.json': bytesOf(fields) }),
      )
      return { eos_token_ids, pad_token_id }
    }
    expect(await generation({ eos_token_id: [4, 5] })).toEqual({
      eos_token_ids: [4, 5],
      pad_token_id: 3,
    })
    expect(await generation({ eos_token_id: 4, pad_token_id: 1 })).toEqual({
      eos_token_ids: [4],
      pad_token_id: 3,
    })
    expect(await generation({ eos_token_id: null })).toMatchObject({ eos_token_ids: [2] })
    const plain = but(directory(json, named), {
      'generation_config.json': bytesOf({ pad_token_id: 1 }),
    })
    expect((await readModel(plain)).pad_token_id).toBe(1)
  })

  test('with buffers that mean nothing, and a second copy of a tied head', async () => {
    const { json, named, flat } = savedModel()
    const embedding = named.get('model.embed_tokens.weight')
    if (!embedding) throw new Error('no embedding')
    const invFreq = { shape: [4], data: [1, 2, 3, 4] }
    const more: Named = new Map([
      ...named,
      ['model.layers.0.self_attn.rotary_emb.inv_freq', invFreq],
      ['lm_head.weight', embedding],
    ])
    expect((await readModel(directory(json, more))).weights).toEqual(flat)
    expect((await readModel(sharded(json, more))).weights).toEqual(flat)
  })

  test('for a head the file does not name', async () => {
    const { json, named } = savedModel(TINY, 'reward_head')
    const back = await readModel(
      directory({ ...json, architectures: undefined }, named),
      'reward_head',
    )
    expect(back.head).toBe('reward_head')
  })
})
