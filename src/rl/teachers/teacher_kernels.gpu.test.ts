// The kernels of a teacher beside the vocabulary head, against float64.
import { expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { teacherKernels } from '../../kernels/teacher/teacher.ts'
import { expectClose, randomValues } from '../../kernels/testing.ts'
import { scoredEntries } from '../../kernels/vocab_head/scored.ref.ts'
import { scatteredList, scatteredStates, unreadAsNaN } from '../../kernels/vocab_head/testing.ts'
import { type Logits, logProbsOf } from './distribution.ref.ts'
import { jsdLoss, jsdToken } from './jsd.ref.ts'

const gpu = await Gpu.open()
const INV_TEMPERATURE = 0.75

interface Size {
  readonly tokens: number
  readonly C: number
  readonly teacherC: number
  readonly V: number
}

/** Random heads whose logits reach about ±10; every fifth token is not scored, and every seventh
 * weighs nothing. */
function inputs({ tokens, C, teacherC, V }: Size) {
  const ids = new Uint32Array(tokens)
  const list = scatteredList(ids, (slot) => slot % 5 !== 3, 5)
  const values = (count: number, c: number, seed: number) =>
    randomValues(count * c, seed).map((x) => x * Math.sqrt(12 / Math.sqrt(c)))
  const states = (c: number, seed: number) =>
    unreadAsNaN(values(scatteredStates(tokens), c, seed), c, list)
  return {
    list,
    hidden: states(C, 1),
    weight: values(V, C, 2),
    teacher: states(teacherC, 3),
    teacher_weight: values(V, teacherC, 4),
    token_weights: randomValues(tokens, 6).map((x, i) => (i % 7 === 5 ? 0 : x)),
  }
}
type Inputs = ReturnType<typeof inputs>

/** Logits of every slot, [tokens, V]; 0 where none is scored. */
function logitsOf({ tokens, V }: Size, { list }: Inputs, x: Float32Array, w: Float32Array): Logits {
  const c = w.length / V
  const data = new Float64Array(tokens * V)
  for (const { state, slot } of scoredEntries(list))
    for (let v = 0; v < V; v++)
      for (let i = 0; i < c; i++) data[slot * V + v] += x[state * c + i] * w[v * c + i]
  return { data, vocabulary: V }
}

const lseOf = ({ data, vocabulary: V }: Logits, i: number): number =>
  data[i * V] * INV_TEMPERATURE - logProbsOf({ data, vocabulary: V }, i, 1 / INV_TEMPERATURE)[0]

async function run(size: Size, beta: number, parts: readonly number[]) {
  const { tokens, C, teacherC, V } = size
  const x = inputs(size)
  const [own, other] = [
    logitsOf(size, x, x.hidden, x.weight),
    logitsOf(size, x, x.teacher, x.teacher_weight),
  ]
  const f32 = (label: string, shape: number[], data: Float32Array) =>
    gpu.tensor(label, 'f32', shape, { data })
  const lse = (logits: Logits) => Float32Array.from({ length: tokens }, (_, i) => lseOf(logits, i))
  const splits = 2
  const tensors = {
    hidden: f32('hidden', [x.hidden.length / C, C], x.hidden),
    weight: f32('weight', [V, C], x.weight),
    teacher: f32('teacher', [x.teacher.length / teacherC, teacherC], x.teacher),
    teacher_weight: f32('teacher_weight', [V, teacherC], x.teacher_weight),
    scored: gpu.tensor('scored', 'u32', [tokens, 4], { data: x.list.scored }),
    lse: f32('lse', [tokens], lse(own)),
    teacher_lse: f32('teacher_lse', [tokens], lse(other)),
    divergence: f32('divergence', [tokens, 4], new Float32Array(4 * tokens).fill(9)),
    token_weights: f32('token_weights', [tokens], x.token_weights),
    d_hidden: f32('d_hidden', [x.hidden.length / C, C], new Float32Array(x.hidden.length)),
    partials: f32('partials', [splits, V, C], new Float32Array(splits * V * C).fill(9)),
  }
  const kernels = teacherKernels('f32', 'f32')
  const ends = [...parts, V]
  const params = ends.map((end, i) => {
    const first_row = i === 0 ? 0 : ends[i - 1]
    return {
      tokens,
      hidden_size: C,
      vocab_size: end,
      first_row,
      teacher_hidden_size: teacherC,
      teacher_vocab_size: end,
      teacher_first_row: first_row,
      rows: end - first_row,
      first_id: first_row,
      inv_temperature: INV_TEMPERATURE,
      beta,
    }
  })
  for (const part of params) await gpu.run(kernels.divergence, part, tensors)
  for (const part of params) {
    await gpu.run(kernels.backwardHidden, part, tensors)
    await gpu.run(kernels.backwardWeight, { ...part, range_rows: V, splits }, tensors)
  }
  const [divergence, d_hidden, partials] = await gpu.read(
    tensors.divergence,
    tensors.d_hidden,
    tensors.partials,
  )
  const d_weight = new Float64Array(V * C)
  for (const [i, d] of partials.entries()) d_weight[i % (V * C)] += d
  return { x, own, other, divergence, d_hidden, d_weight }
}

const SIZES: readonly (readonly [Size, readonly number[]])[] = [
  [{ tokens: 1, C: 4, teacherC: 7, V: 2 }, []],
  [{ tokens: 33, C: 18, teacherC: 20, V: 67 }, []],
  [{ tokens: 70, C: 5, teacherC: 3, V: 150 }, [64, 71]],
]

test.for(SIZES.flatMap(([size, parts]) => [0, 0.3, 1].map((beta) => [size, parts, beta] as const)))(
  '$0 with parts at $1: the divergence and its gradient match float64 at beta $2',
  async ([size, parts, beta]) => {
    const { tokens, C, V } = size
    const { x, own, other, divergence, d_hidden, d_weight } = await run(size, beta, parts)
    const scored = scoredEntries(x.list)
    const isScored = Array.from({ length: tokens }, (_, i) => scored.some(({ slot }) => slot === i))
    const token = (i: number) =>
      jsdToken(
        logProbsOf(own, i, 1 / INV_TEMPERATURE),
        logProbsOf(other, i, 1 / INV_TEMPERATURE),
        beta,
      ).loss
    const losses = isScored.map((counts, i) => (counts ? token(i) : 0))
    const found = losses.map((_, i) => divergence[4 * i + 3])
    expectClose(found, losses, { atol: 2e-5, rtol: 1e-5 })
    const weights = x.token_weights.map((w, i) => (isScored[i] ? w : 0))
    const { d_logits } = jsdLoss(own, other, weights, { beta, temperature: 1 / INV_TEMPERATURE })
    const hidden = new Float64Array(d_hidden.length)
    const weight = new Float64Array(V * C)
    for (const { state, slot } of scored) {
      if (weights[slot] === 0) continue
      for (let v = 0; v < V; v++)
        for (let c = 0; c < C; c++) {
          hidden[state * C + c] += d_logits[slot * V + v] * x.weight[v * C + c]
          weight[v * C + c] += d_logits[slot * V + v] * x.hidden[state * C + c]
        }
    }
    expectClose(d_hidden, hidden, { atol: 4e-5, rtol: 4e-5 })
    expectClose(d_weight, weight, { atol: 4e-5, rtol: 4e-5 })
  },
)

test('a teacher that says the same gives exactly no gradient', async () => {
  const size = { tokens: 16, C: 8, teacherC: 8, V: 40 }
  const x = inputs(size)
  const same = { ...x, teacher: x.hidden, teacher_weight: x.weight }
  const own = logitsOf(size, same, same.hidden, same.weight)
  const lse = Float32Array.from({ length: 16 }, (_, i) => lseOf(own, i))
  const states = [x.hidden.length / 8, 8]
  const tensors = {
    hidden: gpu.tensor('hidden', 'f32', states, { data: x.hidden }),
    weight: gpu.tensor('weight', 'f32', [40, 8], { data: x.weight }),
    teacher: gpu.tensor('teacher', 'f32', states, { data: x.hidden }),
    teacher_weight: gpu.tensor('teacher_weight', 'f32', [40, 8], { data: x.weight }),
    scored: gpu.tensor('scored', 'u32', [16, 4], { data: x.list.scored }),
    lse: gpu.tensor('lse', 'f32', [16], { data: lse }),
    teacher_lse: gpu.tensor('teacher_lse', 'f32', [16], { data: lse }),
    divergence: gpu.tensor('divergence', 'f32', [16, 4]),
    token_weights: gpu.tensor('token_weights', 'f32', [16], { data: x.token_weights }),
    d_hidden: gpu.tensor('d_hidden', 'f32', states, { data: new Float32Array(states[0] * 8) }),
  }
  for (const beta of [0, 0.5, 1]) {
    const params = {
      tokens: 16,
      hidden_size: 8,
      vocab_size: 40,
      first_row: 0,
      teacher_hidden_size: 8,
      teacher_vocab_size: 40,
      teacher_first_row: 0,
      rows: 40,
      first_id: 0,
      inv_temperature: 1,
      beta,
    }
    await gpu.run(teacherKernels('f32', 'f32').divergence, params, tensors)
    await gpu.run(teacherKernels('f32', 'f32').backwardHidden, params, tensors)
    const [d_hidden] = await gpu.read(tensors.d_hidden)
    expect(d_hidden.every((d) => d === 0)).toBe(true)
  }
})
