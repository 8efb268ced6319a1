// Checks the rules of a phase that learns from a teacher.

import type { Teacher } from '../../../rl/config/distillation.ts'
import { layersOf } from '../../../rl/config/layer_list.ts'
import { hasAdapter } from '../fields/model_fields.ts'
import { valueAt } from '../fields/paths.ts'
import type { DistillDocument } from '../fields/phases.ts'
import { taskOf } from '../fields/task_fields.ts'
import { isTaughtByModel } from '../schema/phase_settings.ts'
import type { Experiment } from '../schema/schema.ts'
import { headRules } from './head_rules.ts'
import type { Rule } from './rule.ts'

/** What another model must be to teach. */
export function teacherRules(experiment: Experiment, rule: Rule): void {
  const { teacher, model, task, phases } = experiment
  const { source } = teacher
  const phase = phases.findIndex((one) => isTaughtByModel(experiment, one))
  const isDistilled = phases[phase]?.kind === 'distill'
  const own = valueAt(phases[phase] ?? {}, 'algorithm.opd_kl_coef') !== undefined
  rule(
    phase < 0 || source !== null,
    isDistilled
      ? `phases.${phase}.distillation.teacher`
      : `${own ? `phases.${phase}.` : ''}algorithm.opd_kl_coef`,
    ['teacher.source'],
    `expected ${isDistilled ? 'final, reference or ema' : '0'}, because no other model is named: choose one under “Model that teaches”, or give --teacher PATH`,
  )
  if (source === null) return
  const { vocab_size: tokens } = taskOf(task).tokenizer
  const [mine, its] = [model, teacher].map(({ vocab_size }) => Math.max(vocab_size ?? 0, tokens))
  rule(
    mine === its,
    'teacher.vocab_size',
    ['model.vocab_size'],
    `expected the vocabulary of the model that learns, ${mine} tokens, because both are compared token by token; got ${its}`,
  )
  headRules(teacher, 'teacher', rule)
}

/** Why the whole model cannot be taught by its own final policy. */
function nothingToLearn(teacher: Teacher): string {
  if (teacher === 'final')
    return 'the teacher is the model’s own final policy: choose a layer, or another teacher (distillation.teacher)'
  return 'such a teacher begins as the policy itself: let answers move the policy (crossentropy_weight above 0, lmbda below 1), or choose another model as the teacher'
}

/** Whether the whole model is moved by answers, and held back by what it was. */
const holdsBack = ({ distillation: { teacher, ...settings } }: DistillDocument): boolean =>
  teacher !== 'final' && settings.crossentropy_weight > 0 && settings.lmbda < 1

/** Every rule of its own. */
export function distillRules(
  { model }: Experiment,
  phase: DistillDocument,
  at: string,
  rule: Rule,
): void {
  const { target_layer, layers, distillation } = phase
  const { num_hidden_layers: L } = model
  const target = target_layer === 'final' ? L : target_layer
  const isOther = distillation.teacher === 'model'
  rule(
    !isOther || target <= L,
    `${at}.target_layer`,
    ['model.num_hidden_layers'],
    `expected the whole model or a layer up to ${L}; got ${target_layer}`,
  )
  rule(
    isOther || target < L || (target === L && holdsBack(phase)),
    `${at}.target_layer`,
    ['model.num_hidden_layers', `${at}.distillation.teacher`, `${at}.distillation.lmbda`],
    `expected an inner layer, 1 to ${L - 1}, because ${nothingToLearn(distillation.teacher)}; got ${target_layer}`,
  )
  rule(
    distillation.crossentropy_weight === 0 || target === L,
    `${at}.distillation.crossentropy_weight`,
    [`${at}.target_layer`],
    `expected 0, because the answers are imitated by the whole model alone, and layer ${target} is trained; got ${distillation.crossentropy_weight}`,
  )
  rule(
    !distillation.seq_kd || distillation.teacher !== 'final',
    `${at}.distillation.seq_kd`,
    [`${at}.distillation.teacher`],
    'expected off, because what the final layer writes are the policy’s own samples: lmbda says in which share of the steps it learns from them',
  )
  const wrong = layersOf(layers).find((layer, i, all) => layer >= target || all.indexOf(layer) < i)
  rule(
    wrong === undefined,
    `${at}.layers`,
    [`${at}.target_layer`],
    `expected different layers below the trained one, ${target}; got ${layers}`,
  )
  rule(
    distillation.teacher !== 'ema' || !hasAdapter({ model }),
    `${at}.distillation.teacher`,
    ['model.lora.r', 'model.steering_vectors.trainable'],
    'expected final, reference or model, because an adapter has no averaged copy; got ema',
  )
}
