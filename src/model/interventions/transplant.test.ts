import { expect, test } from 'vitest'
import { modelShape } from '../layout/config.ts'
import { paramLayout, unpackWeights } from '../layout/params.ts'
import { CONFIGS, TINY, testWeights } from '../testing.ts'
import { mixtures, requireSameShape, transplant } from './transplant.ts'

const { layout, flat: host } = testWeights(TINY, 1)
const { flat: donor } = testWeights(TINY, 100)
const taken = (name: string) => mixtures(TINY).find((one) => one.name === name)?.taken ?? []
/** Names of parameters that are the donor's. */
function changed(name: string): string[] {
  const [own, mixed] = [host, transplant(layout, host, donor, taken(name))].map((x) =>
    unpackWeights(layout, x),
  )
  return Object.keys(own).filter((param) => `${own[param]}` !== `${mixed[param]}`)
}

test.for(CONFIGS)('everything taken is the other checkpoint, bit for bit', (config) => {
  const first = testWeights(config, 1)
  const second = testWeights(config, 100).flat
  const all = mixtures(config).find(({ name }) => name === 'everything')
  expect(transplant(first.layout, first.flat, second, all?.taken ?? [])).toEqual(second)
  expect(transplant(first.layout, first.flat, second, [])).toEqual(first.flat)
})

test('attention brings its own norms, the feed-forward its own, and a block both', () => {
  const at = 'model.layers.1.'
  const attention = changed('attention 2')
  expect(attention).toEqual(
    expect.arrayContaining([`${at}input_layernorm.weight`, `${at}self_attn.q_norm.weight`]),
  )
  const feedForward = changed('feed_forward 2')
  expect(feedForward).toContain(`${at}post_attention_layernorm.weight`)
  expect(changed('block 2').sort()).toEqual([...attention, ...feedForward].sort())
  expect(changed('block 2').every((name) => name.startsWith(at))).toBe(true)
})

test('blocks up to k are those below, and what is outside the blocks is a part of its own', () => {
  expect(new Set(changed('blocks up to 2').map((name) => name.split('.')[2]))).toEqual(
    new Set(['0', '1']),
  )
  expect(changed('norm')).toEqual(['model.norm.weight'])
  expect(changed('embedding')).toEqual(['model.embed_tokens.weight'])
  const names = (tied: boolean) =>
    mixtures({ ...TINY, tie_word_embeddings: tied }).map(({ name }) => name)
  expect(names(true)).not.toContain('lm_head')
  expect(names(false)).toContain('lm_head')
})

test('models of different shapes are refused by the first parameter that differs', () => {
  const other = (fields: object) => paramLayout(modelShape({ ...TINY, ...fields }), 'lm_head')
  expect(() => requireSameShape(layout, layout)).not.toThrow()
  expect(() => requireSameShape(layout, other({ intermediate_size: 32 }))).toThrow(
    'gate_proj.weight: expected [28,20] in both models, got [32,20]',
  )
  expect(() => requireSameShape(layout, other({ num_hidden_layers: 2 }))).toThrow(
    'the other model has no model.layers.2.',
  )
  expect(() => requireSameShape(other({ num_hidden_layers: 2 }), layout)).toThrow(
    'only the other model has model.layers.2.',
  )
})

test('parameters of the same shapes that compute otherwise are refused, too', () => {
  const llama = { ...TINY, model_type: 'llama' as const }
  const own = paramLayout(modelShape(llama))
  const other = (fields: object) => paramLayout(modelShape({ ...llama, ...fields }))
  const { num_attention_heads: H, num_key_value_heads: K, head_dim: D } = TINY
  const halved = { num_attention_heads: H / 2, num_key_value_heads: K / 2, head_dim: 2 * D }
  expect(() => requireSameShape(own, other(halved))).toThrow(
    `num_attention_heads: expected ${H} in both models, got ${H / 2}`,
  )
  expect(() => requireSameShape(own, other({ rope_theta: 500 }))).toThrow('rope_theta: expected')
  expect(() => requireSameShape(own, other({}))).not.toThrow()
})
