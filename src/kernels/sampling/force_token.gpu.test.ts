// The shader against the reference.
import { expect, test } from 'vitest'
import { Gpu } from '../device/gpu.ts'
import { forceTokenRef, type Sampled } from './force_token.ref.ts'
import { force_token } from './force_token.ts'

const gpu = await Gpu.open()
const at = { response_length: 3, position: 1, width: 5, column: 3 }

test.for([1, 63, 64, 65, 131])('%i rows are those of the reference, bit for bit', async (rows) => {
  const numbers = (count: number, of: (i: number) => number) =>
    Array.from({ length: count }, (_, i) => of(i))
  const sampled: Sampled = {
    ended: numbers(rows, (i) => i % 2),
    response_ids: numbers(3 * rows, (i) => i),
    rollout_log_probs: numbers(3 * rows, (i) => -i),
    rollout_entropy: numbers(3 * rows, (i) => i / 2),
    next_ids: numbers(rows, (i) => i + 7),
    attention_mask: numbers(5 * rows, (i) => i % 3),
  }
  const forced = numbers(3 * rows, (i) => (i % 5 === 0 ? 0 : i))
  const u32 = (name: string, values: readonly number[]) =>
    gpu.tensor(name, 'u32', [values.length], { data: Uint32Array.from(values) })
  const f32 = (name: string, values: readonly number[]) =>
    gpu.tensor(name, 'f32', [values.length], { data: Float32Array.from(values) })
  const tensors = {
    ended: u32('ended', sampled.ended),
    response_ids: u32('response_ids', sampled.response_ids),
    rollout_log_probs: f32('rollout_log_probs', sampled.rollout_log_probs),
    rollout_entropy: f32('rollout_entropy', sampled.rollout_entropy),
    next_ids: u32('next_ids', sampled.next_ids),
    attention_mask: u32('attention_mask', sampled.attention_mask),
  }
  await gpu.run(force_token, { rows, ...at }, { forced: u32('forced', forced), ...tensors })
  const read = await gpu.read(...Object.values(tensors))
  const found = Object.fromEntries(
    Object.keys(tensors).map((name, i) => [name, Array.from(read[i], (x) => x + 0)]),
  )
  const expected = forceTokenRef(forced, sampled, at)
  for (const [name, values] of Object.entries(expected))
    expect(found[name], name).toEqual(values.map((x: number) => x + 0))
})
