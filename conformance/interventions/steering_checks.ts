// Checks vectors added to the residual stream: what they change, their gradients, and training them
// alone.
import { sftLossRef } from '../../src/kernels/policy_loss/entropy_loss.ref.ts'
import type { RefEdit } from '../../src/model/interventions/edits.ref.ts'
import { adamwState, adamwStepRef } from '../../src/model/interventions/lenses.ref.ts'
import { readPolicyRef } from '../../src/model/interventions/readings.ref.ts'
import { backwardBlocksRef } from '../../src/model/transformer/backward.ref.ts'
import { forwardRef } from '../../src/model/transformer/transformer.ref.ts'
import { CaseError } from '../base/fields.ts'
import type { Check, Output } from '../base/report.ts'
import { check, joined, responseTokens } from '../hf/model_case.ts'
import { finalLogits, measured, stacked, storedLogits } from './ablation_checks.ts'
import {
  type InterventionCase,
  lossOutput,
  outputsOf,
  type Runner,
  upTo,
} from './intervention_case.ts'
import { goldenPpo, readingLoss, type TokenLoss } from './reading_loss.ts'

/** Which columns a vector is added at. */
function columnsOf(c: InterventionCase, mode: string): (m: number) => boolean {
  const { width: S } = c.rows
  const R = c.batch.response_length
  if (mode === 'all') return () => true
  if (mode === 'resp_tok') return (m) => m % S >= S - R
  if (mode === 'resp_pred') return (m) => m % S >= S - R - 1 && m % S < S - 1
  throw new CaseError(`settings.steer_modes: there is no mode called ${mode}`)
}

/** Section 4, passes. */
export async function* steeringChecks(c: InterventionCase, runner: Runner): AsyncGenerator<Check> {
  const L = c.shape.num_hidden_layers
  const vector = c.expected.numbers('in.steer_v')
  const [final] = (await runner.run(c.rows, [])).slice(L)
  const logP = readPolicyRef(c.model.config, c.params, final, 'normed')
  for (const mode of c.settings.texts('steer_modes'))
    for (const [i, scale] of c.settings.vector('steer_scales').entries()) {
      const title = `steer.${mode}.s${i}`
      const found: Record<string, Float64Array[]> = {}
      for (const layer of upTo(L + 1)) {
        const states = await runner.run(c.rows, [steered(c, mode, layer, vector, scale)])
        for (const [name, x] of Object.entries(measured(c, logP, states, true))) {
          found[name] ??= []
          found[name].push(x)
        }
        if (c.expected.has(`${title}.logits_l${layer}`))
          found[`logits_l${layer}`] = [storedLogits(c, finalLogits(c, states))]
      }
      yield check(c, title, runner.on, outputsOf(c, stacked(title, found)))
    }
}

const steered = (
  c: InterventionCase,
  mode: string,
  layer: number,
  vector: Float64Array,
  scale: number,
): RefEdit => ({
  where: 'residual',
  layer,
  isChosen: columnsOf(c, mode),
  adds: true,
  values: vector.map((x) => scale * x),
})

/** Section 4, gradients. */
export function* steeringGradientChecks(c: InterventionCase): Generator<Check> {
  const L = c.shape.num_hidden_layers
  const vector = c.expected.numbers('in.steer_v')
  const [scale] = c.settings.vector('steer_scales')
  const tokens = responseTokens(c.batch)
  const losses: Record<string, TokenLoss> = {
    logp: (logProbs) => {
      const { loss, d_log_probs } = sftLossRef(1 / tokens, logProbs, c.batch.response_mask)
      return { loss: -loss, d_log_probs: d_log_probs.map((d) => -d) }
    },
    ppo: mainPpo(c),
  }
  for (const mode of c.settings.texts('steer_modes'))
    for (const [name, loss] of Object.entries(losses)) {
      const found = upTo(L + 1).map((layer) => {
        const edits = [steered(c, mode, layer, vector, scale)]
        const { value, d_hidden } = throughBlocks(c, edits, loss)
        const chosen = columnsOf(c, mode)
        return { value, gradient: summed(c, d_hidden[layer], chosen).map((d) => scale * d) }
      })
      const title = `steer.${mode}.grad_${name}`
      yield check(c, title, 'reference', {
        ...outputsOf(c, { [title]: joined(found.map(({ gradient }) => gradient)) }),
        ...lossOutputs(
          c,
          `steer.${mode}.${name}`,
          found.map(({ value }) => value),
        ),
      })
    }
}

/** One vector per block: gradients and training. */
export function* jointSteeringChecks(c: InterventionCase): Generator<Check> {
  const { num_hidden_layers: L, hidden_size: C } = c.shape
  const loss = mainPpo(c)
  const at = (vectors: Float64Array) => {
    const edits = upTo(L).map((l): RefEdit => {
      const values = vectors.subarray(l * C, (l + 1) * C)
      return { where: 'residual', layer: l + 1, adds: true, values }
    })
    const { value, d_hidden } = throughBlocks(c, edits, loss)
    const gradient = joined(upTo(L).map((l) => summed(c, d_hidden[l + 1], () => true)))
    return { value, gradient }
  }
  const given = at(c.expected.numbers('in.steer_V'))
  yield check(c, 'steer.joint', 'reference', {
    ...outputsOf(c, { 'steer.joint.grad_ppo': given.gradient }),
    ...lossOutputs(c, 'steer.joint.ppo', [given.value]),
  })
  const { steps, ...optimizer } = jointTraining(c)
  const state = adamwState(L * C)
  const trainLoss: number[] = []
  for (let step = 0; step < steps; step++) {
    const { value, gradient } = at(state.weights)
    trainLoss.push(value)
    adamwStepRef(state, gradient, optimizer)
  }
  trainLoss.push(at(state.weights).value)
  const computed = { 'steer.joint.train_loss': trainLoss, 'steer.joint.train_V': state.weights }
  yield check(c, 'steer.joint.train', 'reference', outputsOf(c, computed))
}

/** The settings say the optimizer in words. */
function jointTraining({ settings }: InterventionCase) {
  const training = settings.fields('steer_joint_train')
  const text = training.optionalText('optimizer') ?? ''
  const pattern =
    /^AdamW lr (\S+), betas (\S+)\/(\S+), eps (\S+), weight_decay (\S+), from V = 0, no clipping$/
  const numbers = pattern.exec(text)?.slice(1).map(Number)
  if (!numbers?.every(Number.isFinite))
    throw new CaseError(`settings.steer_joint_train.optimizer: not understood: ${text}`)
  const [lr, beta1, beta2, eps, weight_decay] = numbers
  const betas = [beta1, beta2] as const
  return { steps: training.number('steps'), lr, betas, eps, weight_decay }
}

/** The golden PPO loss of the main batch. */
const mainPpo = (c: InterventionCase): TokenLoss =>
  goldenPpo(c, c.hf.numbers(`in.${c.main}.old_log_probs`), c.hf.numbers(`in.${c.main}.advantages`))

/** A loss of the final policy of an edited pass, and its gradient by the residual stream of every
 * layer. */
function throughBlocks(c: InterventionCase, edits: readonly RefEdit[], loss: TokenLoss) {
  const { config } = c.model
  const L = config.num_hidden_layers
  const { rows, untouched, params } = c
  const cache = forwardRef(config, params, rows, { edits, untouched })
  const { value, d_states } = readingLoss(c, cache.hidden_states[L], 'normed', loss, {})
  const d_hidden: Float64Array[] = []
  const onHidden = (l: number, d: Float64Array) => {
    d_hidden[l] = d
  }
  backwardBlocksRef(config, params, cache, L, d_states, {}, { onHidden })
  return { value, d_hidden }
}

/** Over the real tokens that are chosen: [C]. */
function summed(
  { rows, shape: { hidden_size: C } }: InterventionCase,
  x: Float64Array,
  isChosen: (m: number) => boolean,
): Float64Array {
  const sum = new Float64Array(C)
  x.forEach((value, i) => {
    const m = Math.floor(i / C)
    if (rows.attention_mask[m] && isChosen(m)) sum[i % C] += value
  })
  return sum
}

function lossOutputs(
  { losses }: InterventionCase,
  key: string,
  values: readonly number[],
): Record<string, Output> {
  const read = (name: string) => {
    const value = losses.raw(name)
    return (Array.isArray(value) ? value : [value]) as number[]
  }
  const expected = read(key)
  const inFloat32 = read(`${key}_fp32`)
  return Object.fromEntries(
    expected.map((x, i) => [`${key}[${i}]`, lossOutput(values[i], x, inFloat32[i])]),
  )
}
