// Counts the costs of a step that samples, of reinforcement or distillation: responses, tokens, and
// the arithmetic of the models' products.

import { modelShape } from '../../../model/layout/config.ts'
import { paramLayout } from '../../../model/layout/params.ts'
import { hasFinalEntropy } from '../../../rl/config/actor.ts'
import { writerOf } from '../../../rl/config/distillation.ts'
import { innerStudents, isDeeplySupervised } from '../../../rl/config/inner.ts'
import { layersOf } from '../../../rl/config/layer_list.ts'
import { modelConfig } from '../fields/model_fields.ts'
import type { DistillDocument, PhaseDocument, RlDocument } from '../fields/phases.ts'
import { taskOf } from '../fields/task_fields.ts'
import type { TeacherFields } from '../fields/teacher_fields.ts'
import { hasCritic, settingsOf } from '../schema/phase_settings.ts'
import type { Experiment } from '../schema/schema.ts'

/** Totals of a run so far, warm start not counted: all arms of a seed share it. */
export interface Costs {
  readonly responses: number
  /** Of prompts and responses. */
  readonly tokens: number
  /** Operations in matrix products, 10⁹: sampling, scoring and updates of policy, reference and
   * critic. */
  readonly arithmetic: number
}

export const NO_COSTS: Costs = { responses: 0, tokens: 0, arithmetic: 0 }

/** Operations of one block and of the head for one token; attention's own products, which are short
 * here, are left out. */
function sizes({ model, task }: Pick<Experiment, 'task'> & { readonly model: TeacherFields }) {
  const { hidden_size: C, intermediate_size: F, num_attention_heads: H } = model
  const D = model.head_dim || C / H
  const block = 2 * (2 * C * H * D + 2 * C * model.num_key_value_heads * D + 3 * C * F)
  return { block, head: 2 * C * taskOf(task).tokenizer.vocab_size }
}

/** Operations of one pass of a token through the whole model and its head. */
export function forwardCost(
  experiment: Pick<Experiment, 'task'> & { readonly model: TeacherFields },
): number {
  const { block, head } = sizes(experiment)
  return experiment.model.num_hidden_layers * block + head
}

/** Operations that one update of a token takes: forward, and backward as far down as something is
 * trained. */
function updateCost(experiment: Experiment, phase: RlDocument): number {
  const { block, head } = sizes(experiment)
  const L = experiment.model.num_hidden_layers
  const top = phase.target_layer === 'final' ? L : phase.target_layer
  const frozen = new Set(layersOf(phase.freeze.layers))
  const { layer, factor } = phase.lr_factor_above
  const isTrained = (k: number) => !frozen.has(k) && !(factor === 0 && k > layer)
  const trained = Array.from({ length: top }, (_, i) => i + 1).filter(isTrained)
  const lowest = phase.freeze.embed_tokens ? (trained[0] ?? top + 1) : 0
  // A product's backward is one product for its input and one for its weights.
  const passed = Math.max(0, top - Math.max(lowest, 1) + 1)
  const headBackward = phase.freeze.embed_tokens ? head : 2 * head
  const { actor } = settingsOf(experiment, phase)
  const finalEntropy = hasFinalEntropy({ target_layer: top, actor }, L)
  // Inner policies that learn along have the blocks' passes in common with the whole model.
  const heads = 1 + innerStudents(actor.inner).length
  // A pass of its own through the whole model, forward and backward.
  const entropy = finalEntropy ? 3 * (L * block + head) : 0
  return (top + passed + trained.length) * block + heads * (head + headBackward) + entropy
}

/** A phase that learns from its own samples. */
export type SamplingDocument = RlDocument | DistillDocument

export const isSampling = (phase: PhaseDocument | undefined): phase is SamplingDocument =>
  phase?.kind === 'rl' || phase?.kind === 'distill'

/** Sampling, the teacher's pass, and an update of three passes up to the trained layer. */
function distillCost(experiment: Experiment, phase: DistillDocument): number {
  const { block, head } = sizes(experiment)
  const L = experiment.model.num_hidden_layers
  const top = phase.target_layer === 'final' ? L : phase.target_layer
  const { model, teacher, task } = experiment
  const taughtBy = phase.distillation.teacher === 'model' ? teacher : model
  const students = 1 + layersOf(phase.layers).length
  const own = forwardCost({ model, task }) + 3 * (top * block + students * head)
  return own + forwardCost({ model: taughtBy, task })
}

/** The costs of one step of a phase over so many responses with so many tokens. */
export function stepCosts(
  experiment: Experiment,
  phase: SamplingDocument,
  { responses, tokens }: Pick<Costs, 'responses' | 'tokens'>,
): Costs {
  const of = (perToken: number) => ({
    responses,
    tokens,
    arithmetic: (perToken * tokens) / 1e9,
  })
  if (phase.kind === 'distill') return of(distillCost(experiment, phase))
  const settings = settingsOf(experiment, phase)
  const { block, head } = sizes(experiment)
  const L = experiment.model.num_hidden_layers
  const top = phase.target_layer === 'final' ? L : phase.target_layer
  const { inner, ppo_epochs, use_kl_loss } = settings.actor
  const hasReference = use_kl_loss || settings.algorithm.use_kl_in_reward
  const forward = top * block + head
  const sampled = L * block + head
  let perToken = sampled + forward + (hasReference ? forward : 0)
  // Their old policies have a pass of their own.
  const students = isDeeplySupervised(inner) ? innerStudents(inner) : []
  perToken += Math.max(0, ...students.map(({ layer }) => layer)) * block + students.length * head
  perToken += ppo_epochs * updateCost(experiment, phase)
  if (hasCritic(settings))
    perToken += L * block * (1 + 3 * (settings.critic.ppo_epochs ?? ppo_epochs))
  return of(perToken)
}

/** Responses of one step. */
export const stepResponses = (experiment: Experiment, phase: SamplingDocument): number => {
  if (phase.kind === 'distill') return phase.batch_size
  const { train_batch_size, n } = settingsOf(experiment, phase).rollout
  return train_batch_size * n
}

export const addCosts = (a: Costs, b: Costs): Costs => ({
  responses: a.responses + b.responses,
  tokens: a.tokens + b.tokens,
  arithmetic: a.arithmetic + b.arithmetic,
})

/** What a step of a phase is planned to cost, with prompts and responses of full length. */
export function plannedStep(experiment: Experiment, phase: SamplingDocument): Costs {
  // Steps of distillation that take demonstrations sample nothing.
  const share =
    phase.kind === 'distill' && !writerOf(phase.distillation) ? phase.distillation.lmbda : 1
  const responses = share * stepResponses(experiment, phase)
  const task = taskOf(experiment.task)
  const { max_prompt_length } = task
  const { max_response_length } =
    phase.kind === 'distill' ? task : settingsOf(experiment, phase).rollout
  const tokens = responses * (max_prompt_length + max_response_length)
  return stepCosts(experiment, phase, { responses, tokens })
}

/** Weights of the policy. */
export const weightCount = ({ model, task }: Experiment): number =>
  paramLayout(modelShape(modelConfig(model, taskOf(task).tokenizer.vocab_size))).params.reduce(
    (sum, { size }) => sum + size,
    0,
  )

/** What all phases that sample are planned to cost. `phases`: those that it goes through, where
 * that is not the list as it stands. */
export const plannedCosts = (experiment: Experiment, phases = experiment.phases): Costs =>
  phases.reduce((total, phase) => {
    if (!isSampling(phase)) return total
    const step = plannedStep(experiment, phase)
    return addCosts(total, {
      responses: phase.steps * step.responses,
      tokens: phase.steps * step.tokens,
      arithmetic: phase.steps * step.arithmetic,
    })
  }, NO_COSTS)
