// Checks gradients of every loss on policies: cross entropy, PPO with and without bonus, PPO on an
// inner layer, KL.
import type { Gpu } from '../../src/kernels/device/gpu.ts'
import type { RolloutBatch } from '../../src/rl/experience/batch.ts'
import { CaseError } from '../base/fields.ts'
import type { Check, Place } from '../base/report.ts'
import { goldenPhase } from './golden_actor.ts'
import { type Gradients, gradientCheck } from './gradients.ts'
import { check, type ModelCase, readBatch, scalar } from './model_case.ts'
import {
  type Loss,
  policyGradientGpu,
  policyGradientRef,
  supervisedGradientGpu,
  supervisedGradientRef,
} from './policy_gradients.ts'

/** All gradients of all batches. */
export async function* gradientChecks(c: ModelCase, gpu: Gpu | undefined): AsyncGenerator<Check> {
  const found = c.expected.under('grad.').map((name) => name.split('.').slice(0, 2).join('.'))
  for (const key of new Set(found)) {
    const [t, name] = key.split('.')
    const batch = readBatch(c.expected, `in.${t}`)
    const emit = (computed: Gradients, on: Place) =>
      gradientCheck(c, `grad.${key}`, computed, on, c.model.layout)
    if (name === 'ce') {
      yield emit(supervisedGradientRef(c, batch), 'reference')
      if (gpu) yield emit(await supervisedGradientGpu(c, gpu, batch), 'gpu')
      continue
    }
    const loss = lossOf(c, t, name, batch)
    yield emit(policyGradientRef(c, batch, loss), 'reference')
    if (gpu) yield emit(await policyGradientGpu(c, gpu, batch, loss), 'gpu')
  }
  yield* totalChecks(c)
}

/** The losses of the goldens as phases of the trainer; `ce` is a supervised step and not among
 * them. */
function lossOf(c: ModelCase, t: string, name: string, batch: RolloutBatch): Loss {
  const { expected } = c
  const { num_hidden_layers: L } = c.shape
  const ppo = expected.json.fields('ppo')
  const rows = { batch: batch.rows, mini: batch.rows }
  const clip = {
    clip_ratio_low: ppo.number('clip_ratio_low'),
    clip_ratio_high: ppo.number('clip_ratio_high'),
    clip_ratio_c: ppo.number('clip_ratio_c'),
  }
  const column = (key: string) => expected.numbers(`in.${t}.${key}`)
  const both = { old_log_probs: column('old_log_probs'), advantages: column('advantages') }
  if (name === 'ppo') return { phase: goldenPhase(L, rows, clip), columns: both }
  if (name === 'ppo_ent') {
    const entropy_coeff = ppo.number('entropy_coeff')
    return { phase: goldenPhase(L, rows, { ...clip, entropy_coeff }), columns: both }
  }
  if (name === 'ppo_layer_k')
    return {
      phase: goldenPhase(c.layer, rows, clip),
      columns: {
        old_log_probs: column('old_log_probs_layer_k'),
        advantages: column('advantages_layer_k'),
      },
    }
  if (name === 'kl') {
    // Without advantages only the KL term is left.
    const zeros = new Float64Array(batch.response_mask.length)
    const kl = { use_kl_loss: true, kl_loss_coef: 1, kl_loss_type: 'low_var_kl' } as const
    return {
      phase: goldenPhase(L, rows, kl),
      columns: { ref_log_prob: column('ref_log_prob'), old_log_probs: zeros, advantages: zeros },
    }
  }
  throw new CaseError(`expected.safetensors: grad.${t}.${name}: there is no loss called ${name}`)
}

/** scalar_only.<t>.ppo_total: the loss with all its terms. */
function* totalChecks(c: ModelCase): Generator<Check> {
  const losses = c.expected.json.fields('losses')
  for (const title of losses.names().filter((name) => /^scalar_only\..*\.ppo_total$/.test(name))) {
    const [, t] = title.split('.')
    const batch = readBatch(c.expected, `in.${t}`)
    const { phase, columns } = lossOf(c, t, 'ppo_ent', batch)
    const ref_log_prob = c.expected.numbers(`in.${t}.ref_log_prob`)
    const actor = { ...phase.actor, use_kl_loss: true, kl_loss_coef: 0.05 }
    const whole = { phase: { ...phase, actor }, columns: { ...columns, ref_log_prob } }
    const { loss } = policyGradientRef(c, batch, whole)
    const expected = losses.fields(title).number('loss')
    yield check(c, title, 'reference', { loss: scalar(loss, expected, 'reference') })
  }
}
