// Rows that wait for an answer: what is forced is read with the cache kept, and a row is the one it
// would be by itself.
import { expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { expectClose } from '../../kernels/testing.ts'
import { CONFIGS, TINY, testBatch, testModel, testWeights } from '../testing.ts'
import { policyRef } from '../transformer/policy.ref.ts'
import { forwardRef } from '../transformer/transformer.ref.ts'
import { Rollout } from './rollout.ts'
import { decodedColumns, type RolloutSize, type Sampling, TURN_CHUNK } from './rollout_inputs.ts'
import { createRolloutTensors } from './rollout_tensors.ts'
import { gathered, type Turn, writtenColumns } from './rollout_turns.ts'

const gpu = await Gpu.open()
const [P, R] = [4, 22]
const LENGTHS = [4, 1, 3, 2, 4, 3].map((prompt) => ({ prompt, response: 0 }))
const SIZE: RolloutSize = {
  rows: LENGTHS.length,
  prompt_length: P,
  response_length: R,
  max_turns: 3,
}
const STOPS = [1, 7, 4]
const PAD = 0
const SAMPLED: Sampling = {
  temperature: 1.3,
  top_k: null,
  top_p: 1,
  seed: 1,
  stream: 0,
  step: 0,
  row_offset: 0,
}

async function build(config = TINY, size = SIZE) {
  const { layout, flat, exact } = testWeights(config, 1)
  const model = testModel(gpu, layout, flat)
  const tensors = createRolloutTensors(gpu, layout.shape, size)
  const special = { eos_token_ids: STOPS, pad_token_id: PAD }
  return { exact, rollout: await Rollout.create(gpu, model, size, tensors, { special }) }
}

const PROMPTS = testBatch(LENGTHS, { P, R: 0, vocab_size: TINY.vocab_size, seed: 11 }, 'left')
const promptOf = (b: number) => [
  ...PROMPTS.input_ids.subarray((b + 1) * P - LENGTHS[b].prompt, (b + 1) * P),
]

/** Stop 7 is answered by three tokens, 4 by nine, 1 by nothing; the third turn of a row by
 * nothing. */
function partner() {
  const turns: Turn[] = []
  const said = new Map<number, number>()
  const lengths = new Map<number, number>()
  const reply = async (turn: Turn) => {
    turns.push(turn)
    const [row, last] = [turn.row, turn.ids.at(-1)]
    const count = (said.get(row) ?? 0) + 1
    said.set(row, count)
    const answer = last === 7 ? [5, 6, 2] : last === 4 ? [2, 3, 5, 6, 2, 3, 5, 6, 2] : []
    const length = (lengths.get(row) ?? 0) + turn.ids.length + answer.length
    lengths.set(row, length)
    return answer.length === 0 || count === 3 || length >= R ? undefined : answer
  }
  return { turns, reply }
}

async function converse(rollout: Rollout, sampling: Sampling, prompts = PROMPTS) {
  const { turns, reply } = partner()
  const found = await rollout.converse(prompts, sampling, reply)
  const [log_probs, entropy] = await gpu.read(rollout.tensors.log_probs, rollout.tensors.entropy)
  return { turns, found, log_probs, entropy }
}

test.for(CONFIGS.map((config) => [config.model_type, config] as const))(
  'written tokens have the log-probs and entropies of the whole row, answers included: %s',
  async ([, config]) => {
    const { exact, rollout } = await build(config)
    let answered = 0
    for (let step = 0; step < 3; step++) {
      const { found, log_probs, entropy } = await converse(rollout, { ...SAMPLED, step })
      const [logP, h] = [log_probs, entropy].map((x) => gathered(x, found, SIZE))
      for (let b = 0; b < LENGTHS.length; b++) {
        const length = found.response_lengths[b]
        const response = found.response_ids.subarray(b * R, b * R + length)
        const sequence = [...promptOf(b), ...response]
        const cache = forwardRef(config, exact, {
          input_ids: sequence,
          attention_mask: sequence.map(() => 1),
          position_ids: sequence.map((_, i) => i),
          rows: 1,
          width: sequence.length,
        })
        const truth = policyRef(config, exact, cache, config.num_hidden_layers, {
          response_ids: response,
          response_mask: new Array(length).fill(1),
          first_column: promptOf(b).length - 1,
          response_length: length,
          temperature: SAMPLED.temperature,
        })
        for (let t = 0; t < length; t++) {
          const isWritten = found.columns[b * R + t] >= 0
          if (!isWritten) answered++
          const [p, e] = isWritten ? [truth.log_probs[t], truth.entropy[t]] : [0, 0]
          expectClose([logP[b * R + t], h[b * R + t]], [p, e], { atol: 3e-5, rtol: 3e-5 })
        }
      }
    }
    expect(answered, 'nothing was forced').toBeGreaterThan(20)
  },
)

test('a turn ends at a stop or where the response is full, and what was forced follows it', async () => {
  const { rollout } = await build()
  const { turns, found } = await converse(rollout, SAMPLED)
  for (let b = 0; b < LENGTHS.length; b++) {
    const own = turns.filter(({ row }) => row === b)
    const length = found.response_lengths[b]
    const written = own.flatMap(({ ids }) => ids)
    const kept = [...found.response_ids.subarray(b * R, b * R + length)]
    expect(kept.filter((_, t) => found.columns[b * R + t] >= 0)).toEqual(written)
    for (const { ids } of own.slice(0, -1)) expect(STOPS).toContain(ids.at(-1))
    const ended = STOPS.includes(own.at(-1)?.ids.at(-1) ?? -1)
    expect(ended || length === R).toBe(true)
    expect([...found.response_ids.subarray(b * R + length, (b + 1) * R)]).toEqual(
      new Array(R - length).fill(PAD),
    )
  }
  const columns = writtenColumns(found, SIZE)
  expect(columns.reduce((sum, x) => sum + x)).toBe(turns.flatMap(({ ids }) => ids).length)
  expect(columns.length).toBe(SIZE.rows * decodedColumns(SIZE))
})

test('a row by itself is the row of the batch, bit for bit', async () => {
  const [{ rollout }, { rollout: single }] = [
    await build(),
    await build(TINY, { ...SIZE, rows: 1 }),
  ]
  const all = await converse(rollout, SAMPLED)
  const logP = gathered(all.log_probs, all.found, SIZE)
  for (let b = 0; b < LENGTHS.length; b++) {
    const part = <A extends Uint32Array>(x: A) => x.slice(b * P, (b + 1) * P)
    const prompts = {
      input_ids: part(PROMPTS.input_ids),
      attention_mask: part(PROMPTS.attention_mask),
    }
    const one = await converse(single, { ...SAMPLED, row_offset: b }, { ...PROMPTS, ...prompts })
    expect(one.found.response_ids).toEqual(all.found.response_ids.slice(b * R, (b + 1) * R))
    expect(gathered(one.log_probs, one.found, SIZE)).toEqual(logP.slice(b * R, (b + 1) * R))
  }
})

test('one readback for every 8 columns at most, and no buffer after the first batch', async () => {
  const { rollout } = await build()
  await converse(rollout, SAMPLED)
  const { reads } = gpu.counts
  const created = gpu.counts.buffers
  for (let step = 0; step < 4; step++) {
    await rollout.converse(PROMPTS, { ...SAMPLED, step }, partner().reply)
    expect(gpu.counts.reads - reads).toBeLessThanOrEqual(
      (step + 1) * Math.ceil(decodedColumns(SIZE) / TURN_CHUNK),
    )
  }
  expect(gpu.counts.buffers).toBe(created)
})

test('a partner that answers more often than rows have turns is refused', async () => {
  const { rollout } = await build()
  await expect(rollout.converse(PROMPTS, SAMPLED, async () => [2])).rejects.toThrow(
    'no room for turn 4 of 3',
  )
  const { rollout: plain } = await build(TINY, { ...SIZE, max_turns: 1 })
  await expect(plain.converse(PROMPTS, SAMPLED, async () => [2])).rejects.toThrow('several turns')
})
