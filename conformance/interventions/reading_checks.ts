// Checks policies trained at a layer that is read raw, through the norm, or through a translator
// that stays as it is.
import type { RefReading } from '../../src/model/interventions/readings.ref.ts'
import { backwardBlocksRef } from '../../src/model/transformer/backward.ref.ts'
import type { RefArrays } from '../../src/model/transformer/operations.ref.ts'
import { CaseError, type Fields } from '../base/fields.ts'
import type { Check, Output } from '../base/report.ts'
import { check } from '../hf/model_case.ts'
import { type InterventionCase, lossOutput, output } from './intervention_case.ts'
import { jacobianTranslators, tunedTranslators } from './lens_checks.ts'
import { goldenPpo, readingLoss } from './reading_loss.ts'

/** Section 8. */
export function* readingChecks(c: InterventionCase): Generator<Check> {
  const keys = c.losses.names().filter((name) => name.startsWith('ppo.'))
  for (const key of keys) {
    const [, reading, at] = key.split('.')
    const layer = Number(/^l(\d+)$/.exec(at)?.[1])
    const old = c.expected.numbers(`in.${key}.old`)
    const loss = goldenPpo(c, old, c.expected.numbers('in.adv'))
    const grads: RefArrays = {}
    const states = c.untouched.hidden_states[layer]
    const { value, d_states, log_probs } = readingLoss(
      c,
      states,
      readingOf(c, reading, layer),
      loss,
      grads,
    )
    backwardBlocksRef(c.model.config, c.params, c.untouched, layer, d_states, grads)
    const golden = c.losses.fields(key)
    yield check(c, key, 'reference', {
      loss: lossOutput(value, golden.number('loss'), golden.number('loss_fp32')),
      ...gradientOutputs(c, key, golden, grads),
      [`${key}.logp`]: c.expected.output(`${key}.logp`, log_probs, c.batch.response_mask),
    })
  }
}

function readingOf(c: InterventionCase, name: string, layer: number): RefReading {
  if (name === 'raw') return 'raw'
  if (name === 'norm') return 'normed'
  const lenses = { tuned: tunedTranslators, jac: jacobianTranslators }
  if (name !== 'tuned' && name !== 'jac')
    throw new CaseError(`losses.ppo.${name}: there is no reading called ${name}`)
  return lenses[name](c)[layer]
}

/** Norms of all gradients, parts of them, and which parameters have none. */
export function gradientOutputs(
  c: InterventionCase,
  key: string,
  golden: Fields,
  grads: RefArrays,
) {
  const norms = golden.record('grad_norms')
  const rtol = Math.max(2e-5, 16 * golden.number('grad_norms_max_rel_error_fp32'))
  const outputs: Record<string, Output> = {
    grad_norms: {
      actual: Object.fromEntries(
        Object.entries(grads).map(([name, x]) => [
          name,
          Math.sqrt(x.reduce((sum, g) => sum + g ** 2, 0)),
        ]),
      ),
      expected: norms,
      tolerance: { rtol, atol: 0 },
    },
    params_with_grad_none: {
      actual: Object.keys(c.params)
        .filter((name) => !(name in grads))
        .sort(),
      expected: [...golden.texts('params_with_grad_none')].sort(),
      tolerance: 'exact',
    },
  }
  for (const name of c.expected.under(`${key}.grad.`)) {
    const title = `${key}.grad.${name}`
    outputs[title] = output(c, title, storedRows(c, title, name, grads[name] ?? new Float64Array()))
  }
  return outputs
}

/** Vectors are stored whole, matrices in part: rows 3 … 6 of embedding and head, the first two of
 * the others. */
function storedRows(c: InterventionCase, title: string, name: string, gradient: Float64Array) {
  const { shape } = c.expected.tensor(title)
  if (shape.length === 1) return gradient
  const first = /embed_tokens|lm_head/.test(name) ? 3 : 0
  return gradient.subarray(first * shape[1], (first + shape[0]) * shape[1])
}
