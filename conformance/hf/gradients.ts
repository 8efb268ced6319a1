// Checks gradients of every parameter against Hugging Face's.
import { type FlatLayout, trainedPrefix } from '../../src/model/layout/flat_params.ts'
import type { ParamLayout } from '../../src/model/layout/params.ts'
import type { Check, Output, Place } from '../base/report.ts'
import { check, type ModelCase, scalar } from './model_case.ts'

/** A loss, what else was counted, and gradients by name; parameters that the loss does not reach
 * are absent. */
export interface Gradients {
  readonly loss: number
  readonly metrics: Readonly<Record<string, number>>
  readonly grads: Readonly<Record<string, ArrayLike<number>>>
}

/** The arrays `<title>.<parameter>`, and `losses.<title>` of expected.json. The layout is that of
 * the model that was differentiated. */
export function gradientCheck(
  c: ModelCase,
  title: string,
  { loss, grads, metrics }: Gradients,
  on: Place,
  { params }: ParamLayout,
): Check {
  const golden = c.expected.json.fields('losses').fields(title)
  const outputs: Record<string, Output> = {
    loss: scalar(loss, golden.number('loss'), on),
    grad_norm: scalar(globalNorm(grads), golden.number('grad_norm'), on),
  }
  for (const name of c.expected.under(`${title}.`))
    outputs[name] = c.expected.output(`${title}.${name}`, grads[name] ?? [])
  // Parameters without a gradient are absent, not zero.
  const without = params.map(({ name }) => name).filter((name) => !(name in grads))
  outputs.params_with_grad_none = {
    actual: without.sort(),
    expected: [...golden.texts('params_with_grad_none')].sort(),
    tolerance: 'exact',
  }
  const known = golden.fields('metrics')
  for (const name of known.names())
    outputs[`metrics.${name}`] = scalar(
      metrics[name] ?? metrics[`actor/${name}`],
      known.number(name),
      on,
    )
  return check(c, title, on, outputs)
}

/** Norm of all gradients together. */
export function globalNorm(grads: Gradients['grads']): number {
  let squares = 0
  for (const grad of Object.values(grads))
    for (let i = 0; i < grad.length; i++) squares += grad[i] ** 2
  return Math.sqrt(squares)
}

/** Gradients by name of the parameters that the policy of `layer` trains. */
export function namedGradients(
  layout: FlatLayout,
  flat: Float32Array,
  layer: number,
): Record<string, Float32Array> {
  const { count } = trainedPrefix(layout, layer)
  return Object.fromEntries(
    layout.params
      .filter(({ offset }) => offset < count)
      .map(({ name, offset, size }) => [name, flat.subarray(offset, offset + size)]),
  )
}
