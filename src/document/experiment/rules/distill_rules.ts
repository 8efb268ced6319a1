// The rules of a phase that learns from a teacher.
import { loraOf } from '../fields/lora_fields.ts'
import { layersOf } from '../fields/trained_fields.ts'
import type { DistillDocument } from '../phases.ts'
import type { Experiment } from '../schema.ts'
import type { Rule } from './rule.ts'

/** Every rule of its own. */
export function distillRules(
  { model }: Experiment,
  { target_layer, layers, distillation }: DistillDocument,
  at: string,
  rule: Rule,
): void {
  const { num_hidden_layers: L } = model
  rule(
    target_layer !== 'final' && target_layer < L,
    `${at}.target_layer`,
    ['model.num_hidden_layers'],
    `expected an inner layer, 1 to ${L - 1}, because the teacher is the model's own final policy, which has nothing to learn from itself; got ${target_layer}`,
  )
  const target = target_layer === 'final' ? L : target_layer
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
    "expected 'final' or 'reference', because an adapter has no averaged copy; got ema",
  )
}
