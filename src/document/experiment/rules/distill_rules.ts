// The rules of a phase that learns from a teacher.

import { layersOf } from '../../../rl/config/layer_list.ts'
import { loraOf } from '../fields/lora_fields.ts'
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
    `expected ${isDistilled ? 'final, reference or ema' : '0'}, because no other model is named: open one and press “Learn from it”, or give --teacher PATH`,
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

/** Every rule of its own. */
export function distillRules(
  { model }: Experiment,
  { target_layer, layers, distillation }: DistillDocument,
  at: string,
  rule: Rule,
): void {
  const { num_hidden_layers: L } = model
  const target = target_layer === 'final' ? L : target_layer
  const is_other = distillation.teacher === 'model'
  rule(
    !is_other || target <= L,
    `${at}.target_layer`,
    ['model.num_hidden_layers'],
    `expected the whole model or a layer up to ${L}; got ${target_layer}`,
  )
  rule(
    is_other || target < L,
    `${at}.target_layer`,
    ['model.num_hidden_layers'],
    `expected an inner layer, 1 to ${L - 1}, because the teacher is the model's own final policy, which has nothing to learn from itself; got ${target_layer}`,
  )
  const wrong = layersOf(layers).find((layer, i, all) => layer >= target || all.indexOf(layer) < i)
  rule(
    wrong === undefined,
    `${at}.layers`,
    [`${at}.target_layer`],
    `expected different layers below the trained one, ${target}; got ${layers}`,
  )
  rule(
    distillation.teacher !== 'ema' || !loraOf(model.lora),
    `${at}.distillation.teacher`,
    ['model.lora.r'],
    'expected final, reference or model, because an adapter has no averaged copy; got ema',
  )
}
