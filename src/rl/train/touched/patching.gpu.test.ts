// Tests what patching brings back against the float64 model with the same states exchanged.
import { expect, test } from 'vitest'
import { Gpu } from '../../../kernels/device/gpu.ts'
import type { RefEdit } from '../../../model/interventions/edits.ref.ts'
import { modelShape } from '../../../model/layout/config.ts'
import { paramLayout } from '../../../model/layout/params.ts'
import { testWeights } from '../../../model/testing.ts'
import { rmsNorm } from '../../../model/transformer/operations.ref.ts'
import { logitsRef } from '../../../model/transformer/policy.ref.ts'
import { forwardRef } from '../../../model/transformer/transformer.ref.ts'
import { CONFIG, PARITY } from '../../testing.ts'
import { pairsOf } from './pairs.ts'
import { patching, placesOf, type Recovery } from './patching.ts'
import { touchModels } from './touch.ts'

const layout = paramLayout(modelShape(CONFIG.model))
const { flat: weights, exact } = testWeights(CONFIG.model, 5)
const { num_hidden_layers: L, head_dim: D, hidden_size: C } = layout.shape
const clean = [4, 1, 6, 3]
const corrupted = [4, 1, 2, 9]

const batchOf = (ids: readonly number[]) => ({
  rows: 1,
  width: ids.length,
  input_ids: Uint32Array.from(ids),
  attention_mask: new Uint32Array(ids.length).fill(1),
  position_ids: Uint32Array.from(ids.keys()),
})
const lastLogits = (ids: readonly number[], edits: readonly RefEdit[] = []) => {
  const { hidden_states } = forwardRef(CONFIG.model, exact, batchOf(ids), { edits })
  const { rms_norm_eps } = CONFIG.model
  const states = rmsNorm(hidden_states[L], exact['model.norm.weight'], rms_norm_eps)
  return logitsRef(CONFIG.model, exact, states).slice(-CONFIG.model.vocab_size)
}

/** The state of a place at one token of the clean text. */
function cleanState({ where, layer, head = 0 }: Recovery, t: number): Float64Array {
  const { hidden_states, blocks } = forwardRef(CONFIG.model, exact, batchOf(clean))
  const cut = (x: Float64Array, cols: number, from: number, size: number) =>
    x.slice(t * cols + from, t * cols + from + size)
  if (where === 'residual') return cut(hidden_states[layer], C, 0, C)
  const block = blocks[layer - 1]
  if (where === 'head') return cut(block.context, layout.shape.attentionSize, head * D, D)
  return cut(where === 'attention' ? block.attn_out : block.ffn_out, C, 0, C)
}

test('every place and token brings back what it does in float64', async () => {
  const gpu = await Gpu.open()
  const done: number[] = []
  const found = await patching(gpu, { layout, weights }, [{ clean, corrupted }], (of) =>
    done.push(of),
  )
  gpu.destroy()
  const [{ answer, wrong }] = found.pairs
  const difference = (logits: ArrayLike<number>) => logits[answer] - logits[wrong]
  const [withClean, withCorrupted] = [
    difference(lastLogits(clean)),
    difference(lastLogits(corrupted)),
  ]
  expect(found.logit_diff.clean).toBeCloseTo(withClean, 4)
  expect(found.logit_diff.corrupted).toBeCloseTo(withCorrupted, 4)
  expect(found.places).toHaveLength(placesOf(layout.shape).length)
  expect(done).toEqual(found.places.map(() => found.places.length))
  for (const place of found.places)
    for (const [t, recovery] of place.recovery.entries()) {
      const { where, layer, head } = place
      const edit = {
        where,
        layer,
        head,
        values: cleanState(place, t),
        isChosen: (m: number) => m === t,
      }
      const patched = difference(lastLogits(corrupted, [edit]))
      const exactly = (patched - withCorrupted) / (withClean - withCorrupted)
      expect(recovery, `${where} ${layer} ${head} at ${t}`).toBeCloseTo(exactly, 3)
    }
  const some = await Gpu.open()
  const one = await patching(some, { layout, weights }, [{ clean, corrupted }], () => {}, [1])
  some.destroy()
  expect(one.places).toEqual(found.places.filter(({ layer }) => layer === 1))
  const residual = (l: number) =>
    found.places.find(({ where, layer }) => where === 'residual' && layer === l)?.recovery ?? []
  // Before the texts differ there is nothing to bring back; the last token's last state is all.
  expect(residual(0).slice(0, 2)).toEqual([0, 0])
  expect(residual(L)).toEqual([0, 0, 0, expect.closeTo(1, 5)])
})

test('texts that are no pair, or that the model does not keep apart, are refused', async () => {
  const model = { step: 3, config: CONFIG, weights }
  const tried = (...texts: readonly [string, string]) =>
    touchModels(
      () => Gpu.open(),
      { what: 'patching', texts },
      [model],
      () => {},
    )
  await expect(tried('1=', '12=')).rejects.toThrow('got 2 in "1=" and 3 in "12="')
  await expect(tried('1=', '1=')).rejects.toThrow('the same one twice')
  await expect(tried('1=', 'é=')).rejects.toThrow(RangeError)
  const beyond = touchModels(
    () => Gpu.open(),
    { what: 'patching', texts: ['1=', '2='], layers: [0, L + 1] },
    [model],
    () => {},
  )
  await expect(beyond).rejects.toThrow(
    `Expected layers of the model, from 0 (the embedding) to ${L}, got ${L + 1}.`,
  )
  const alike = [{ clean, corrupted, answer: 5, wrong: 5 }]
  const gpu = await Gpu.open()
  await expect(patching(gpu, { layout, weights }, alike)).rejects.toThrow('gives the same answer')
  gpu.destroy()
})

test('pairs of a task are as long as each other, differ little and ask for different answers', () => {
  const pairs = pairsOf(PARITY, 1, 4)
  expect(pairs).toHaveLength(4)
  for (const pair of pairs) {
    expect(pair.clean).toHaveLength(pairs[0].clean.length)
    expect(pair.corrupted).toHaveLength(pair.clean.length)
    expect(pair.corrupted).not.toEqual(pair.clean)
    expect(pair.answer).not.toBe(pair.wrong)
  }
  const constant = {
    ...PARITY,
    sample: () => ({ prompt: '1=', ground_truth: '1', demonstration: '1' }),
  }
  expect(pairsOf(constant, 1, 4)).toEqual([])
})
