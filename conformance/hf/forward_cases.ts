// Checks forward passes: logits, states, internal policies, log-probs of responses.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Gpu } from '../../src/kernels/device/gpu.ts'
import { parseHfConfig } from '../../src/model/hf/hf_config.ts'
import {
  type Internals,
  type Quantity,
  REPORTED_NAMES,
} from '../../src/model/internals/internal_quantities.ts'
import { internalsRef } from '../../src/model/internals/internals.ref.ts'
import { recordInternals } from '../../src/model/internals/internals.ts'
import {
  createInternals,
  readInternals,
  uploadInternals,
} from '../../src/model/internals/internals_tensors.ts'
import { inverseFrequencies } from '../../src/model/layout/config.ts'
import { policyRef } from '../../src/model/transformer/policy.ref.ts'
import { finalNorm, readPolicy } from '../../src/model/transformer/policy.ts'
import { uploadRows } from '../../src/model/transformer/rows.ts'
import { forwardRef, type RefCache } from '../../src/model/transformer/transformer.ref.ts'
import { createWorkspace, type Workspace } from '../../src/model/transformer/workspace.ts'
import type { RolloutBatch } from '../../src/rl/experience/batch.ts'
import type { Check, Output, Place } from '../base/report.ts'
import { type AnyInternals, meansCheck } from './forward_means.ts'
import { uploadCase } from './gpu_model.ts'
import { inputOutputs } from './input_outputs.ts'
import {
  batchNames,
  check,
  joined,
  type ModelCase,
  readBatch,
  refResponse,
  widthOf,
} from './model_case.ts'

type Numbers = ArrayLike<number>

/** Everything that one place computes of one batch, by the names of the goldens; each on the mask
 * it is compared on. */
type Computed = Map<string, { values: Numbers; mask: Numbers; inner?: number }>

const minus = (a: Numbers, b: Numbers) => Float64Array.from(a, (x, i) => x - b[i])

/** Rows of `columns` without their last column: a log-prob of the next token has one less. */
function withoutLast(values: Numbers, columns: number): Float64Array {
  return Float64Array.from(values).filter((_, i) => (i + 1) % columns !== 0)
}

/** The config is read the same in both spellings, and gives Hugging Face's frequencies. */
export function* configChecks(c: ModelCase): Generator<Check> {
  const { expected, model } = c
  const invFreq = inverseFrequencies(model.config)
  const frequencies = {
    actual: invFreq,
    expected: expected.numbers('rope.inv_freq'),
    tolerance: { rtol: 1e-6, atol: 0 },
  }
  yield check(c, 'config', 'driver', { 'rope.inv_freq': frequencies })
  const file = join(c.folder, 'config_alt_style.json')
  if (!existsSync(file)) return
  const { config } = parseHfConfig(JSON.parse(readFileSync(file, 'utf8')), file)
  const same = { actual: { ...config }, expected: { ...model.config }, tolerance: 'exact' } as const
  yield check(c, 'config_alt_style', 'driver', { config: same })
}

/** All forward checks of all batches. */
export async function* forwardChecks(c: ModelCase, gpu: Gpu | undefined): AsyncGenerator<Check> {
  for (const t of batchNames(c.expected)) {
    const batch = readBatch(c.expected, `in.${t}`)
    yield check(c, `in.${t}`, 'driver', inputOutputs(c.expected, `in.${t}`))
    const reference = referenceForward(c, batch)
    yield check(c, `fwd.${t}`, 'reference', outputsOf(c, t, reference.computed, 'reference'))
    yield meansCheck(c, t, batch, reference.internals, 'reference')
    if (!gpu) continue
    const kernels = await gpuForward(c, gpu, batch)
    yield check(c, `fwd.${t}`, 'gpu', outputsOf(c, t, kernels.computed, 'gpu'))
    yield meansCheck(c, t, batch, kernels.internals, 'gpu')
  }
}

/** The goldens of batch t that were computed. Float64 arrays are for the reference alone. */
function outputsOf(
  { expected }: ModelCase,
  t: string,
  computed: Computed,
  on: Place,
): Record<string, Output> {
  const outputs: Record<string, Output> = {}
  for (const [name, { values, mask, inner }] of computed)
    for (const kind of on === 'reference' ? ['fwd', 'f64'] : ['fwd'])
      if (expected.has(`${kind}.${t}.${name}`))
        outputs[`${kind}.${name}`] = expected.output(`${kind}.${t}.${name}`, values, mask, inner)
  return outputs
}

/** Internal quantities under the names of the goldens. */
function internalsComputed(internals: AnyInternals, vocabSize: number): Computed {
  const { mask, nextMask, columns, num_hidden_layers: L, rows } = internals
  const computed: Computed = new Map()
  const next = withoutLast(nextMask, columns)
  for (const [name, values] of Object.entries(internals.values)) {
    if (name.startsWith('logp_'))
      computed.set(name, { values: withoutLast(values, columns), mask: next })
    else if (name === 'logits') computed.set(name, { values, mask, inner: vocabSize })
    else computed.set(name, { values, mask })
  }
  const final = internals.values.logp_next_layer_norm.subarray(L * rows * columns)
  computed.set('logp_next', { values: withoutLast(final, columns), mask: next })
  return computed
}

/** States under the names of the goldens; Hugging Face's last hidden state is the normed one. */
function statesComputed(
  states: {
    readonly hidden: readonly Numbers[]
    readonly normed: Numbers
    readonly attn_in: readonly Numbers[]
    readonly attn_out: readonly Numbers[]
    readonly ffn_in: readonly Numbers[]
    readonly ffn_out: readonly Numbers[]
  },
  mask: Numbers,
  hiddenSize: number,
): Computed {
  const { hidden, normed, ...blocks } = states
  const inner = hiddenSize
  const computed: Computed = new Map()
  computed.set('hidden_states', { values: joined([...hidden.slice(0, -1), normed]), mask, inner })
  computed.set('H_last_prenorm', { values: hidden[hidden.length - 1], mask, inner })
  for (const [name, parts] of Object.entries(blocks))
    computed.set(name, { values: joined(parts), mask, inner })
  return computed
}

/** The policies whose response log-probs the goldens hold. */
const RESPONSES = [
  { suffix: '', is_inner: false, temperature: 1 },
  { suffix: '_T0.7', is_inner: false, temperature: 0.7 },
  { suffix: '_layer_k', is_inner: true, temperature: 1 },
] as const

function referenceForward(c: ModelCase, batch: RolloutBatch) {
  const { params } = c
  const { config } = c.model
  const cache = forwardRef(config, params, { ...batch, width: widthOf(batch) })
  const internals = internalsRef(config, params, cache)
  const computed = new Map([
    ...internalsComputed(internals, config.vocab_size),
    ...statesComputed(refStates(cache), batch.attention_mask, config.hidden_size),
  ])
  for (const { suffix, is_inner, temperature } of RESPONSES) {
    const layer = is_inner ? c.layer : config.num_hidden_layers
    const policy = policyRef(config, params, cache, layer, refResponse(batch, temperature))
    const mask = batch.response_mask
    computed.set(`resp_log_probs${suffix}`, { values: policy.log_probs, mask })
    computed.set(`resp_entropy${suffix}`, { values: policy.entropy, mask })
  }
  // The kernels never have these probabilities in memory.
  computed.set('attn_probs_layer0', { values: cache.blocks[0].attnProbs, mask: [1] })
  return { computed, internals }
}

const refStates = ({ hidden_states: hidden, normed, blocks }: RefCache) => ({
  hidden,
  normed,
  attn_in: blocks.map(({ attn_in }) => attn_in),
  attn_out: blocks.map(({ attn_out }) => attn_out),
  ffn_in: blocks.map(({ ffn_in }) => ffn_in),
  ffn_out: blocks.map(({ ffn_out }) => ffn_out),
})

async function gpuForward(c: ModelCase, gpu: Gpu, batch: RolloutBatch) {
  const { shape } = c
  const model = uploadCase(c, gpu)
  const ws = uploadBatch(c, gpu, batch)
  const tensors = createInternals(gpu, shape, ws, { quantities: REPORTED_NAMES, positions: 'all' })
  const L = shape.num_hidden_layers
  uploadInternals(gpu, tensors, batch)
  const program = await gpu.record('internals', [], (r) => {
    recordInternals(r, model, tensors)
    finalNorm(r, model, ws, { layer: L })
  })
  gpu.replay(program)
  const internals = (await readInternals(gpu, tensors)) as Internals<Quantity, Float32Array>
  const computed = new Map([
    ...internalsComputed(internals, shape.vocab_size),
    ...statesComputed(await readStates(gpu, ws), batch.attention_mask, shape.hidden_size),
  ])
  for (const { suffix, is_inner, temperature } of RESPONSES) {
    const layer = is_inner ? c.layer : L
    const policy = await gpu.record('policy', [], (r) =>
      readPolicy(r, model, ws, { layer, inv_temperature: 1 / temperature }),
    )
    gpu.replay(policy)
    const [logProbs, entropy] = await gpu.read(ws.response.log_probs, ws.response.entropy)
    const mask = batch.response_mask
    computed.set(`resp_log_probs${suffix}`, { values: logProbs, mask })
    computed.set(`resp_entropy${suffix}`, { values: entropy, mask })
  }
  return { computed, internals }
}

/** The residual writes are read as what they changed. */
async function readStates(gpu: Gpu, ws: Workspace) {
  const read = (tensors: readonly Workspace['normed'][]) => gpu.read(...tensors)
  const hidden = await read(ws.hidden)
  const middle = await read(ws.layers.map((layer) => layer.middle))
  return {
    hidden,
    normed: (await read([ws.normed]))[0],
    attn_in: await read(ws.layers.map(({ attn_in }) => attn_in)),
    attn_out: middle.map((x, l) => minus(x, hidden[l])),
    ffn_in: await read(ws.layers.map(({ ffn_in }) => ffn_in)),
    ffn_out: middle.map((x, l) => minus(hidden[l + 1], x)),
  }
}

function uploadBatch({ shape }: ModelCase, gpu: Gpu, batch: RolloutBatch): Workspace {
  const { rows, response_length } = batch
  const width = widthOf(batch)
  const ws = createWorkspace(gpu, shape, { rows, width, response_length, trains: true })
  uploadRows(gpu, ws, batch)
  return ws
}
