// Checks tuned and Jacobian lenses: policies of layers read through a translator, and how
// translators are found.
import {
  type JacobianContexts,
  jacobianPositions,
  jacobiansRef,
  type LensOptimizer,
  tunedFitRef,
  tunedLossRef,
} from '../../src/model/interventions/lenses.ref.ts'
import {
  divergencesRef,
  entropiesRef,
  nextLogProbsRef,
  readPolicyRef,
  readStatesRef,
} from '../../src/model/interventions/readings.ref.ts'
import type { TunedOptimizer } from '../../src/model/lenses/tuned_fit.ts'
import { logitsRef } from '../../src/model/transformer/policy.ref.ts'
import type { RefTranslator } from '../../src/model/transformer/translate.ref.ts'
import type { Fields } from '../base/fields.ts'
import type { Check } from '../base/report.ts'
import { check, joined } from '../hf/model_case.ts'
import { stacked, storedLogits } from './ablation_checks.ts'
import { type InterventionCase, outputsOf, type Runner, upTo } from './intervention_case.ts'

/** The given translators, one per layer below the last. */
export function tunedTranslators({ expected, shape }: InterventionCase): Required<RefTranslator>[] {
  const { num_hidden_layers: L, hidden_size: C } = shape
  const A = expected.numbers('in.A', L * C * C)
  const b = expected.numbers('in.b', L * C)
  return upTo(L).map((l) => ({
    matrix: A.subarray(l * C * C, (l + 1) * C * C),
    bias: b.subarray(l * C, (l + 1) * C),
  }))
}

/** The stored Jacobians as readings. */
export function jacobianTranslators({ expected, shape }: InterventionCase): RefTranslator[] {
  const { num_hidden_layers: L, hidden_size: C } = shape
  const J = expected.numbers('jlens.J', L * C * C)
  return upTo(L).map((l) => ({ matrix: J.subarray(l * C * C, (l + 1) * C * C) }))
}

/** Section 6, policies. */
export async function* lensChecks(c: InterventionCase, runner: Runner): AsyncGenerator<Check> {
  const states = await runner.run(c.rows, [])
  const lenses = { tuned: tunedTranslators(c), jlens: jacobianTranslators(c) }
  for (const [name, translators] of Object.entries(lenses))
    yield check(c, name, runner.on, outputsOf(c, readThrough(c, name, states, translators)))
}

function readThrough(
  c: InterventionCase,
  title: string,
  states: readonly Float64Array[],
  translators: readonly RefTranslator[],
): Record<string, Float64Array> {
  const { rows, params } = c
  const { config } = c.model
  const final = readPolicyRef(config, params, states[states.length - 1], 'normed')
  const found: Record<string, Float64Array[]> = { logp_next: [], ent: [], kl: [] }
  for (const [l, translator] of translators.entries()) {
    const logP = readPolicyRef(config, params, states[l], translator)
    found.logp_next.push(nextLogProbsRef(rows, logP))
    found.ent.push(entropiesRef(rows, logP))
    found.kl.push(divergencesRef(rows, final, logP))
  }
  const read = readStatesRef(config, params, states[1], translators[1])
  found.logits_l1 = [storedLogits(c, logitsRef(config, params, read))]
  return stacked(title, found)
}

/** Section 6, tuned lens: its loss and gradient, and fits. */
export function* tunedFitChecks(c: InterventionCase): Generator<Check> {
  const { num_hidden_layers: L, hidden_size: C } = c.shape
  const { rows, params, untouched } = c
  const { config } = c.model
  const final = readPolicyRef(config, params, untouched.hidden_states[L], 'normed')
  const lossOf = (l: number) => (translator: Required<RefTranslator>) =>
    tunedLossRef(config, params, rows, untouched.hidden_states[l], final, translator)
  const given = tunedTranslators(c).map((translator, l) => lossOf(l)(translator))
  const computed = {
    'tuned.kl_mean': given.map(({ kl }) => kl),
    'tuned.grad_A': joined(given.map(({ d_translator }) => d_translator.matrix)),
    'tuned.grad_b': joined(given.map(({ d_translator }) => d_translator.bias)),
  }
  yield check(c, 'tuned.gradients', 'reference', outputsOf(c, computed))
  const settings = c.settings.fields('tuned_fit')
  const steps = settings.number('steps')
  settings.choice('init', ['A = I, b = 0'])
  settings.choice('loss', ['sum over l of mean KL(final || lens_l) over real positions'])
  for (const name of ['sgd', 'nesterov', 'adamw'] as const) {
    if (!settings.has(name)) continue
    const optimizer = optimizerOf(settings.fields(name), name)
    const fits = upTo(L).map((l) => tunedFitRef(lossOf(l), C, optimizer, steps))
    const title = `tuned.fit.${name}`
    const arrays = {
      [`${title}.kl`]: upTo(steps + 1).flatMap((i) => fits.map(({ kl }) => kl[i])),
      [`${title}.A`]: joined(fits.map(({ translator }) => translator.matrix)),
      [`${title}.b`]: joined(fits.map(({ translator }) => translator.bias)),
    }
    yield check(c, title, 'reference', outputsOf(c, arrays))
  }
}

function optimizerOf(fields: Fields, name: 'sgd' | 'nesterov' | 'adamw'): LensOptimizer {
  const lr = fields.number('lr')
  if (name !== 'adamw') {
    if (fields.number('dampening', 0) !== 0) fields.choice('dampening', ['0'])
    return { name: 'sgd', lr, momentum: fields.number('momentum') }
  }
  return { name, ...tunedOptimizer(fields) }
}

/** AdamW of a fit. */
export function tunedOptimizer(fields: Fields): TunedOptimizer {
  const lr = fields.number('lr')
  const [beta1, beta2] = fields.vector('betas', 2)
  const [eps, weight_decay] = [fields.number('eps'), fields.number('weight_decay')]
  fields.choice('parametrisation', ['A = I + W; decay acts on W and b'])
  return { lr, betas: [beta1, beta2], eps, weight_decay }
}

/** Section 6, Jacobian lens: the estimator. */
export function* jacobianChecks(c: InterventionCase): Generator<Check> {
  const skip_first = c.settings.number('jlens_skip_first')
  // A case whose rows are all long has none that would be dropped.
  const skipShort = c.settings.optionalNumber('jlens_skip_short')
  const variants: Record<string, JacobianContexts> = {
    J: { skip_first },
    J_skip0: { skip_first: 0 },
    ...(skipShort !== undefined && { J_short_rows_dropped: { skip_first: skipShort } }),
    J_first_context: { skip_first, rows: [0] },
    J_same_position: { skip_first, samePosition: true },
  }
  for (const [name, contexts] of Object.entries(variants)) {
    const title = `jlens.${name}`
    if (!c.expected.has(title)) continue
    const J = jacobiansRef(c.model.config, c.params, c.untouched, contexts)
    yield check(c, title, 'reference', outputsOf(c, { [title]: joined(J) }))
  }
  if (!c.expected.json.has('checks')) return
  const counted = c.expected.json.fields('checks')
  // Differences that whoever made the numbers found.
  counted.ignore(...counted.names())
  if (!counted.has('jlens.valid_positions')) return
  const of = (skip: number) =>
    upTo(c.rows.rows)
      .map((b) => jacobianPositions(c.rows, b, skip).length)
      .filter((n) => n > 0)
  yield check(c, 'jlens.positions', 'driver', {
    positions: {
      actual: { all: of(skip_first), short: skipShort === undefined ? undefined : of(skipShort) },
      expected: {
        all: counted.raw('jlens.valid_positions'),
        short: counted.raw('jlens.valid_positions_short_rows_dropped'),
      },
      tolerance: 'exact',
    },
  })
}
