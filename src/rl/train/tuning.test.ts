import { expect, test } from 'vitest'
import { CONFIG } from '../testing.ts'
import { runProducts } from './tuning.ts'

test('every shape class of a run is there once, with the widths of its layers', () => {
  const products = runProducts(CONFIG)
  const { hidden_size: C, intermediate_size: F, vocab_size: V, head_dim: D } = CONFIG.model
  const qkv = (CONFIG.model.num_attention_heads + 2 * CONFIG.model.num_key_value_heads) * D
  const widths = (op: string) =>
    new Set(products.filter((p) => p.op === op).map(({ n, k }) => `${n}×${k}`))
  // The last two are those of decoding, whose addend is part of its own kernel.
  expect(widths('nt')).toEqual(
    new Set([`${qkv}×${C}`, `${2 * F}×${C}`, `${V}×${C}`, `${C}×${2 * D}`, `${C}×${F}`]),
  )
  expect(widths('nt_add')).toEqual(new Set([`${C}×${2 * D}`, `${C}×${F}`]))
  expect(widths('nn')).toEqual(
    new Set([`${C}×${qkv}`, `${2 * D}×${C}`, `${C}×${2 * F}`, `${F}×${C}`]),
  )
  const tn = products.filter((p) => p.op === 'tn').map(({ m, n }) => `${m}×${n}`)
  expect(new Set(tn)).toEqual(
    new Set([`${qkv}×${C}`, `${C}×${2 * D}`, `${2 * F}×${C}`, `${C}×${F}`]),
  )
  // A supervised pass of 8 rows and a reinforcement pass of 8 rows of 6 columns fall into one
  // class.
  expect(products.filter((p) => p.op === 'tn').length).toBe(4)
})
