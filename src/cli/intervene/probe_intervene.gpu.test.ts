import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { writeSafetensors } from '../../formats/safetensors_write.ts'
import { expectClose, randomValues } from '../../kernels/testing.ts'
import { readHfModel } from '../../model/hf/hf_model.ts'
import { internalsRef } from '../../model/internals/internals.ref.ts'
import type { RefEdit } from '../../model/interventions/edits.ref.ts'
import {
  divergencesRef,
  entropiesRef,
  readPolicyRef,
} from '../../model/interventions/readings.ref.ts'
import { steeringFile } from '../../model/interventions/steering.ts'
import { unpackWeights } from '../../model/layout/params.ts'
import { jacobianLens, type Lens, lensSize } from '../../model/layout/translators.ts'
import { modelHash, writeLens } from '../../model/lenses/lens_file.ts'
import { forwardRef } from '../../model/transformer/transformer.ref.ts'
import { modelDirectory } from '../input/model_dir.ts'
import { probe } from '../probe.ts'

const DIR = 'public/models/sorter'
const folder = mkdtempSync(join(tmpdir(), 'understory-intervene-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const probed = (ids: unknown, ...more: string[]) => probedIn(DIR, ids, ...more)

async function probedIn(dir: string, ids: unknown, ...more: string[]) {
  const [tokens, out] = [join(folder, 'ids.json'), join(folder, 'out.json')]
  writeFileSync(tokens, JSON.stringify(ids))
  await probe.run([dir, '--tokens', tokens, '--out', out, ...more])
  return JSON.parse(readFileSync(out, 'utf8'))
}
const intervene = (...list: unknown[]) => ['--intervene', JSON.stringify(list)]

const hf = await readHfModel(modelDirectory(DIR), { head: 'lm_head' })
const { config, layout } = hf
const params = Object.fromEntries(
  Object.entries(unpackWeights(layout, hf.weights)).map(([name, x]) => [
    name,
    Float64Array.from(x),
  ]),
)
const { hidden_size: C } = config
/** Rounding of float32 through four blocks. */
const CLOSE = { atol: 3e-5, rtol: 3e-5 }

/** The prompt 3 digits, “=”, then the digits in order: as the task writes them. */
const text = (digits: string, answer = [...digits].sort().join('')) =>
  [...`${digits}=${answer}`].map((c) => (c === '=' ? 17 : Number(c) + 2))

const batchOf = (ids: readonly number[]) => ({
  rows: 1,
  width: ids.length,
  input_ids: ids,
  attention_mask: ids.map(() => 1),
  position_ids: ids.map((_, i) => i),
})

test('a mean, a patch and a vector give what the float64 model gives, and what they changed', async () => {
  const ids = text('572')
  const other = text('918')
  const value = Array.from({ length: C }, (_, c) => Math.sin(c))
  const report = await probed(
    ids,
    ...intervene(
      { where: 'feed_forward', layer: 1, what: 'mean' },
      { where: 'head', layer: 2, head: 1, positions: [2, 3], what: 'patch', from: other },
      { where: 'attention', layer: 3, what: 'patch', from: other, positions: [6] },
      { where: 'residual', layer: 2, what: 'add', value, strength: 0.5, positions: [4] },
    ),
  )
  const batch = batchOf(ids)
  const untouched = forwardRef(config, params, batch)
  const clean = forwardRef(config, params, batchOf(other))
  const mean = Float64Array.from({ length: C }, (_, c) =>
    untouched.blocks[0].ffn_out.reduce(
      (sum, x, i) => (i % C === c ? sum + x / ids.length : sum),
      0,
    ),
  )
  const head = clean.blocks[1].context.filter((_, i) => Math.floor((i % 32) / 16) === 1)
  const at =
    (...positions: number[]) =>
    (m: number) =>
      positions.includes(m)
  const edits: RefEdit[] = [
    { where: 'feed_forward', layer: 1, values: mean },
    { where: 'head', layer: 2, head: 1, values: head, isChosen: at(2, 3) },
    { where: 'attention', layer: 3, values: clean.blocks[2].attn_out, isChosen: at(6) },
    {
      where: 'residual',
      layer: 2,
      adds: true,
      values: Float64Array.from(value, (x) => x / 2),
      isChosen: at(4),
    },
  ]
  const truth = internalsRef(config, params, forwardRef(config, params, batch, { edits }))
  const before = internalsRef(config, params, untouched)
  expectClose(report.logits[0].flat(), truth.values.logits, { atol: 1e-4, rtol: 1e-4 })
  expectClose(report.ent_layer_raw.flat(2), truth.values.ent_layer_raw, { atol: 1e-4, rtol: 1e-4 })
  const V = config.vocab_size
  const policy = (logits: Float64Array, i: number) => {
    const z = logits.subarray(i * V, (i + 1) * V)
    const lse = Math.log(z.reduce((sum, x) => sum + Math.exp(x), 0))
    return z.map((x) => x - lse)
  }
  const kl = ids.map((_, i) => {
    const [p, q] = [policy(before.values.logits, i), policy(truth.values.logits, i)]
    return p.reduce((sum, lp, v) => sum + Math.exp(lp) * (lp - q[v]), 0)
  })
  expectClose(report.kl_untouched[0], kl, { atol: 1e-4, rtol: 1e-3 })
  const plain = await probed(ids)
  expect(report.untouched_forward_means).toEqual(plain.forward_means)
  expect(report.forward_means).not.toEqual(plain.forward_means)
})

test('a steering vector is the difference of the mean states of two groups of texts', async () => {
  const [toward, away] = [[text('572'), text('31').slice(0, 3)], [text('918')]]
  const ids = text('640')
  const add = { where: 'residual', layer: 1, what: 'add' }
  const report = await probed(ids, ...intervene({ ...add, toward, away, strength: 2 }))
  const meanOf = (texts: number[][]) => {
    const means = texts.map((one) => {
      const states = forwardRef(config, params, batchOf(one)).hidden_states[1]
      return Array.from({ length: C }, (_, c) =>
        states.reduce((sum, x, i) => (i % C === c ? sum + x / one.length : sum), 0),
      )
    })
    return means[0].map((_, c) => means.reduce((sum, mean) => sum + mean[c], 0) / means.length)
  }
  const less = meanOf(away)
  const value = meanOf(toward).map((x, c) => 2 * (x - less[c]))
  const given = await probed(ids, ...intervene({ ...add, value }))
  expectClose(report.logits[0].flat(), given.logits[0].flat(), { atol: 1e-4, rtol: 1e-4 })
  const plain = await probed(ids)
  expect(report.kl_untouched[0][3]).toBeGreaterThan(1e-4)
  expect(report.logits).not.toEqual(plain.logits)
})

test('an empty list changes nothing that a probe says', async () => {
  expect(await probed(text('572'), '--intervene', '[]')).toEqual(await probed(text('572')))
})

/** A model by hand that repeats the digit before “=”: its only head copies it there, and nothing
 * else knows of it. */
function writeCopier(): string {
  const [V, C] = [12, 12]
  const config = {
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    hidden_act: 'silu',
    vocab_size: V,
    hidden_size: C,
    intermediate_size: 4,
    num_hidden_layers: 1,
    num_attention_heads: 1,
    num_key_value_heads: 1,
    head_dim: C,
    rms_norm_eps: 1e-6,
    rope_theta: 1e4,
    tie_word_embeddings: false,
    pad_token_id: 11,
    eos_token_id: 11,
  }
  const identity = (size: number) =>
    Float32Array.from({ length: size * C }, (_, i) => (i % (C + 1) === 0 && i < 10 * C ? 1 : 0))
  const zeros = (rows: number, columns: number) => ({
    shape: [rows, columns],
    data: new Float32Array(rows * columns),
  })
  const digits = { shape: [C, C], data: identity(C) }
  const ones = { shape: [C], data: new Float32Array(C).fill(1) }
  const embedding = { shape: [V, C], data: identity(V).fill(1, 10 * C + 10, 10 * C + 11) }
  const at = 'model.layers.0'
  const tensors = new Map([
    ['model.embed_tokens.weight', embedding],
    ['lm_head.weight', { shape: [V, C], data: identity(V) }],
    [`${at}.input_layernorm.weight`, ones],
    [`${at}.self_attn.q_proj.weight`, zeros(C, C)],
    [`${at}.self_attn.k_proj.weight`, zeros(C, C)],
    [`${at}.self_attn.v_proj.weight`, digits],
    [`${at}.self_attn.o_proj.weight`, digits],
    [`${at}.post_attention_layernorm.weight`, ones],
    [`${at}.mlp.gate_proj.weight`, zeros(4, C)],
    [`${at}.mlp.up_proj.weight`, zeros(4, C)],
    [`${at}.mlp.down_proj.weight`, zeros(C, 4)],
    ['model.norm.weight', ones],
  ])
  const dir = mkdtempSync(join(folder, 'copier-'))
  writeFileSync(join(dir, 'config.json'), JSON.stringify(config))
  writeFileSync(join(dir, 'model.safetensors'), writeSafetensors(tensors))
  return dir
}

test('without what it needs a policy is at chance, and the clean state brings its answers back', async () => {
  const dir = writeCopier()
  const right = async (listFor: (ids: number[]) => unknown[]) => {
    let count = 0
    for (let digit = 0; digit < 10; digit++) {
      const ids = [digit, 10]
      const row: number[] = (await probedIn(dir, ids, ...intervene(...listFor(ids)))).logits[0][1]
      if (row.indexOf(Math.max(...row)) === digit) count++
    }
    return count / 10
  }
  const off = { where: 'attention', layer: 1, what: 'zero' }
  expect(await right(() => [])).toBe(1)
  expect(await right(() => [off])).toBe(0.1)
  expect(await right(() => [{ where: 'head', layer: 1, head: 0, what: 'zero' }])).toBe(0.1)
  const back = (from: number[]) => ({
    where: 'residual',
    layer: 1,
    positions: [1],
    what: 'patch',
    from,
  })
  expect(await right((ids) => [off, back(ids)])).toBe(1)
  // The state of another text brings that text's answer.
  expect(await right(([digit]) => [off, back([(digit + 1) % 10, 10])])).toBe(0)
})

test.for([
  [
    [{ where: 'block', layer: 9, what: 'zero' }],
    '--intervene: interventions[0].layer: expected a number of blocks from 1 to 3',
  ],
  [
    [{ where: 'block', layer: 1, what: 'zero', positions: [7] }],
    'tokens from 0 to 6, as the text has',
  ],
  [
    [{ where: 'block', layer: 1, what: 'patch', from: [2, 3] }],
    '--intervene: interventions[0].from: expected a text of 7 tokens, as long as the one that is patched, got 2',
  ],
  [
    [{ where: 'block', layer: 1, what: 'patch', from: '57=' }],
    'expected a text of 7 tokens, as long as the one that is patched, got 3',
  ],
  [
    [{ where: 'block', layer: 1, what: 'patch', from: [99, 3, 3, 3, 3, 3, 3] }],
    'interventions[0].from: expected token ids below vocab_size 26, got 99',
  ],
] as const)('%j is refused', async ([list, problem]) => {
  await expect(probed(text('572'), ...intervene(...list))).rejects.toThrow(problem)
})

test('text that is not JSON, a file that is missing and rows of other lengths are refused', async () => {
  await expect(probed(text('572'), '--intervene', '[{')).rejects.toThrow('--intervene: not JSON')
  await expect(probed(text('572'), '--intervene', 'nowhere.json')).rejects.toThrow('nowhere.json')
  const zero = { where: 'block', layer: 1, what: 'zero', positions: [5] }
  await expect(probed([text('572'), text('31').slice(0, 4)], ...intervene(zero))).rejects.toThrow(
    'interventions[0].positions: expected tokens that every row has, got 5 where the shortest row has 4',
  )
})

test('--lens reads every layer through a translator, and refuses another model’s', async () => {
  const ids = text('572')
  const { shape } = layout
  const owner = { shape, hash: modelHash(hf.weights) }
  const write = (name: string, bytes: Uint8Array) => {
    writeFileSync(join(folder, name), bytes)
    return join(folder, name)
  }
  const tuned: Lens = {
    readout: 'tuned',
    hidden_size: C,
    values: new Float32Array(lensSize(shape)),
  }
  const zero = write('tuned.safetensors', writeLens(tuned, owner))
  const L = shape.num_hidden_layers
  // Far from the identity.
  const matrices = Array.from({ length: L }, (_, l) =>
    randomValues(C * C, l).map((x) => x / Math.sqrt(C)),
  )
  const jacobian = write('jacobian.safetensors', writeLens(jacobianLens(C, matrices), owner))
  const report = await probed(ids, '--lens', `${zero},${jacobian}`)
  // A tuned lens of zeros is the final norm alone.
  for (let l = 0; l < L; l++) {
    expectClose(report.ent_layer_tuned[l][0], report.ent_layer_norm[l][0], CLOSE)
    expectClose(report.logp_next_layer_tuned[l][0], report.logp_next_layer_norm[l][0], CLOSE)
    const { hidden_states } = forwardRef(config, params, batchOf(ids))
    const logP = readPolicyRef(config, params, hidden_states[l], {
      matrix: Float64Array.from(matrices[l]),
    })
    const final = readPolicyRef(config, params, hidden_states[L], 'normed')
    const kl = divergencesRef(batchOf(ids), final, logP)
    expectClose(report.kl_final_layer_jacobian[l][0], kl, CLOSE)
    expectClose(report.ent_layer_jacobian[l][0], entropiesRef(batchOf(ids), logP), CLOSE)
  }
  const plain = await probed(ids)
  expect(Object.keys(report).filter((name) => !(name in plain))).toHaveLength(6)
  for (const name of Object.keys(plain)) expect(report[name]).toEqual(plain[name])

  const other = write('other.safetensors', writeLens(tuned, { shape, hash: 'sha256-0' }))
  await expect(probed(ids, '--lens', other)).rejects.toThrow('found one of another model')
  await expect(probed(ids, '--lens', `${zero},${zero}`)).rejects.toThrow('one lens of each kind')
})

test('a vector may be a file of lab steer, of this model alone', async () => {
  const ids = text('572')
  const { num_hidden_layers: L } = layout.shape
  const vectors = Array.from({ length: L + 1 }, (_, l) => Float32Array.from(randomValues(C, l)))
  const write = (name: string, model_hash: string) => {
    writeFileSync(join(folder, name), steeringFile({ vectors, model_hash, made: 'by hand' }))
    return join(folder, name)
  }
  const own = write('vectors.safetensors', modelHash(hf.weights))
  const add = { where: 'residual', layer: 1, what: 'add', strength: 2 }
  const read = await probed(ids, ...intervene({ ...add, value: own }))
  const typed = await probed(ids, ...intervene({ ...add, value: [...vectors[1]] }))
  expect(read.kl_untouched).toEqual(typed.kl_untouched)
  expect(Math.max(...read.kl_untouched[0])).toBeGreaterThan(0)
  const other = write('others.safetensors', 'sha256-0')
  await expect(probed(ids, ...intervene({ ...add, value: other }))).rejects.toThrow(
    'others.safetensors: the vectors belong to the model sha256-0',
  )
  await expect(probed(ids, ...intervene({ ...add, layer: 9, value: own }))).rejects.toThrow(
    'interventions[0].layer: expected a number of blocks',
  )
})
