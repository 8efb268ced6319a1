// Checks a model with parts of another checkpoint of it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readSafetensors } from '../../src/formats/safetensors.ts'
import { nextLogProbsRef, readPolicyRef } from '../../src/model/interventions/readings.ref.ts'
import { inBlock, isOfPart, type TransplantPart } from '../../src/model/interventions/transplant.ts'
import type { RefArrays } from '../../src/model/transformer/operations.ref.ts'
import { forwardRef } from '../../src/model/transformer/transformer.ref.ts'
import { CRITIC } from '../../src/rl/config/critic.ts'
import { defaultsOf } from '../../src/rl/fields/field.ts'
import { CaseError } from '../base/fields.ts'
import type { Check } from '../base/report.ts'
import { check, joined } from '../hf/model_case.ts'
import { supervisedGradientRef } from '../hf/policy_gradients.ts'
import { RefTrainable } from '../hf/ref_trainable.ts'
import { type InterventionCase, outputsOf, upTo } from './intervention_case.ts'

/** A part of the host that is the other checkpoint's. */
interface Taken {
  readonly part: TransplantPart
  /** From 1. */
  readonly layer?: number
  /** The other's block, where it is not the same. */
  readonly from?: number
}

/** Section 7. */
export function* transplantChecks(c: InterventionCase): Generator<Check> {
  const second = readSecond(c)
  const mixed = mixtures(c)
  for (const [prefix, host, donor] of [
    ['tp', c.params, second],
    ['tp.rev', second, c.params],
  ] as const)
    for (const [name, lists] of Object.entries(mixed)) {
      const title = `${prefix}.${name}`
      if (c.expected.under(`${title}.`).length === 0) continue
      const found = lists.map((taken) => scored(c, transplanted(host, donor, taken)))
      yield check(c, title, 'reference', named(c, title, found))
    }
  yield check(c, 'tp.first', 'reference', named(c, 'tp.first', [scored(c, c.params)]))
  yield check(c, 'tp.second', 'reference', named(c, 'tp.second', [scored(c, second)]))
  const L = c.shape.num_hidden_layers
  const swapped = upTo(L).flatMap((a) =>
    upTo(L).map((b) => {
      const taken = [{ part: 'block', layer: a + 1, from: b + 1 }] as const
      return scored(c, transplanted(c.params, second, taken)).mean_all
    }),
  )
  yield check(c, 'tp.swap', 'reference', outputsOf(c, { 'tp.swap.mean_all': swapped }))
  yield trainedCheck(c, second)
}

/** By the goldens' names: lists of mixtures. */
function mixtures({ shape }: InterventionCase): Record<string, readonly (readonly Taken[])[]> {
  const L = shape.num_hidden_layers
  const each = (part: TransplantPart) => upTo(L).map((l) => [{ part, layer: l + 1 }])
  const blocks = (n: number): Taken[] => upTo(n).map((l) => ({ part: 'block', layer: l + 1 }))
  const embedding: Taken = { part: 'embedding' }
  return {
    block: each('block'),
    attn: each('attention'),
    ffn: each('feed_forward'),
    upto: upTo(L + 1).map(blocks),
    upto_emb: upTo(L + 1).map((n) => [...blocks(n), embedding]),
    norm: [[{ part: 'norm' }]],
    embed: [[embedding]],
    ...(!shape.tie_word_embeddings && { head: [[{ part: 'lm_head' }]] }),
  }
}

/** The host's parameters with parts of the donor's. */
function transplanted(host: RefArrays, donor: RefArrays, taken: readonly Taken[]): RefArrays {
  const mixed = { ...host }
  for (const { part, layer, from } of taken)
    for (const name of Object.keys(host))
      if (isOfPart(name, part, layer))
        mixed[name] = donor[layer && from ? inBlock(name, layer, from) : name]
  return mixed
}

function scored({ model: { config }, rows, batch }: InterventionCase, params: RefArrays) {
  const { hidden_states } = forwardRef(config, params, rows)
  const final = readPolicyRef(config, params, hidden_states[config.num_hidden_layers], 'normed')
  const logp_next = nextLogProbsRef(rows, final)
  const S = rows.width
  const { response_length: R, response_mask } = batch
  // Zero where there is no next token: a log-probability never is.
  const real = logp_next.filter((x) => x !== 0)
  const response = [...response_mask].map((mask, i) =>
    mask ? logp_next[Math.floor(i / R) * (S - 1) + (S - 1 - R) + (i % R)] : 0,
  )
  const sum = (x: ArrayLike<number>) => Array.from(x).reduce((a, b) => a + b, 0)
  return {
    logp_next,
    mean_all: sum(real) / real.length,
    mean_resp: sum(response) / sum(response_mask),
  }
}

const named = (c: InterventionCase, title: string, found: readonly ReturnType<typeof scored>[]) =>
  outputsOf(c, {
    [`${title}.logp_next`]: joined(found.map(({ logp_next }) => logp_next)),
    [`${title}.mean_all`]: found.map(({ mean_all }) => mean_all),
    [`${title}.mean_resp`]: found.map(({ mean_resp }) => mean_resp),
  })

/** The second checkpoint: the same parameters with other values. */
function readSecond({ folder, params }: InterventionCase): RefArrays {
  const file = join(folder, 'second', 'model.safetensors')
  const { tensors } = readSafetensors(new Uint8Array(readFileSync(file)), file)
  const second = Object.fromEntries(
    [...tensors].map(([name, { data }]) => [name, Float64Array.from(data)]),
  )
  for (const [name, { length }] of Object.entries(params))
    if (second[name]?.length !== length)
      throw new CaseError(
        `${file}: ${name}: expected ${length} numbers, got ${second[name]?.length ?? 'nothing'}`,
      )
  return second
}

/** The second checkpoint is the first after some supervised steps. */
function trainedCheck(c: InterventionCase, second: RefArrays): Check {
  const training = c.expected.json.fields('second')
  const betas = training.vector('betas', 2)
  // The losses are arrays too; our AdamW has this eps and no other.
  training.ignore('loss_fp64', 'hf_fp32_vs_fp64_relative_l2')
  if (training.number('eps') !== 1e-8)
    throw new CaseError(`second.eps: expected 1e-8, got ${training.raw('eps')}`)
  const optim = {
    ...defaultsOf(CRITIC).optim,
    lr: training.number('lr'),
    betas: [betas[0], betas[1]] as const,
    weight_decay: training.number('weight_decay'),
  }
  const { layout, weights } = c.model
  const trainable = new RefTrainable(layout, weights)
  const losses: number[] = []
  for (let step = 0; step < training.number('steps'); step++) {
    const { loss, grads } = supervisedGradientRef({ ...c, params: trainable.params }, c.batch)
    losses.push(loss)
    trainable.step(grads, c.shape.num_hidden_layers, optim, Number.POSITIVE_INFINITY)
  }
  const squares = (a: RefArrays, b: RefArrays) =>
    Object.keys(second).reduce(
      (sum, name) => sum + a[name].reduce((s, x, i) => s + (x - b[name][i]) ** 2, 0),
      0,
    )
  const relative = Math.sqrt(squares(trainable.params, second) / squares(second, c.params))
  const atol = training.number('recommended_relative_l2_tolerance')
  return check(c, 'tp.trained', 'reference', {
    ...outputsOf(c, { 'tp.train_loss': losses }),
    second: { actual: relative, expected: 0, tolerance: { rtol: 0, atol } },
  })
}
