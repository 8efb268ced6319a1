// The rules of a phase that learns from a teacher.
import { loraOf } from '../fields/lora_fields.ts'
import { type DistillDocument, isTaughtByModel } from '../fields/phases.ts'
import { taskOf } from '../fields/task_fields.ts'
import { layersOf } from '../fields/trained_fields.ts'
import type { Experiment } from '../schema/schema.ts'
import type { Rule } from './rule.ts'

/** What another model must be to teach. */
export function teacherRules({ teacher, model, task, phases }: Experiment, rule: Rule): void {
  const { source, num_attention_heads, num_key_value_heads, head_dim } = teacher
  const phase = phases.findIndex(isTaughtByModel)
  rule(
    phase < 0 || source !== null,
    `phases.${phase}.distillation.teacher`,
    ['teacher.source'],
    'expected final, reference or ema, because no other model is named: open one and press “Learn from it”, or give --teacher PATH; got model',
  )
  if (source === null) return
  const { vocab_size: tokens } = taskOf(task).tokenizer
  const [own, its] = [model, teacher].map(({ vocab_size }) => Math.max(vocab_size ?? 0, tokens))
  rule(
    own === its,
    'teacher.vocab_size',
    ['model.vocab_size'],
    `expected the vocabulary of the model that learns, ${own} tokens, because both are compared token by token; got ${its}`,
  )
  rule(
    num_attention_heads % num_key_value_heads === 0,
    'teacher.num_key_value_heads',
    ['teacher.num_attention_heads'],
    `expected a divisor of num_attention_heads (${num_attention_heads}); got ${num_key_value_heads}`,
  )
  rule(
    head_dim % 2 === 0,
    'teacher.head_dim',
    [],
    `expected an even number, because rotary positions turn channels in pairs; got ${head_dim}`,
  )
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
