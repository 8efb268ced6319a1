// Checks the means of internal quantities over the tokens of a batch.
import {
  type Internals,
  type Quantity,
  tokenMeans,
} from '../../src/model/internals/internal_quantities.ts'
import type { RolloutBatch } from '../../src/rl/experience/batch.ts'
import type { Check, Output, Place } from '../base/report.ts'
import { check, type ModelCase, scalar, widthOf } from './model_case.ts'

/** All quantities, by kernels or in float64. */
export type AnyInternals = Internals<Quantity, Float32Array> | Internals<Quantity, Float64Array>

/** forward_means of expected.json: means over the positions that predict response tokens, and over
 * all real ones. */
export function meansCheck(
  c: ModelCase,
  t: string,
  batch: RolloutBatch,
  internals: AnyInternals,
  on: Place,
): Check {
  const golden = c.expected.json.fields('forward_means').fields(t)
  const { response_length: R, response_mask, prompt_length: P } = batch
  const columns = widthOf(batch)
  const response = Float32Array.from({ length: batch.rows * columns }, (_, i) => {
    const at = (i % columns) - (P - 1)
    return at >= 0 && at < R ? response_mask[Math.floor(i / columns) * R + at] : 0
  })
  const means = {
    mean_resp: tokenMeans(internals as Internals<Quantity, Float64Array>, response),
    mean_all: tokenMeans(internals as Internals<Quantity, Float64Array>),
  }
  const L = internals.num_hidden_layers
  const outputs: Record<string, Output> = {}
  const perplexity = (of: keyof typeof means) => Math.exp(-at(means[of].logp_next_layer_norm, L))
  for (const name of golden.names()) {
    if (name === 'final_entropy_mean_resp')
      outputs[name] = scalar(at(means.mean_resp.ent_layer_norm, L), golden.number(name), on)
    else if (name === 'perplexity_resp' || name === 'perplexity_all') {
      const of = name === 'perplexity_resp' ? 'mean_resp' : 'mean_all'
      outputs[name] = scalar(perplexity(of), golden.number(name), on)
    } else {
      const both = golden.fields(name)
      for (const of of ['mean_resp', 'mean_all'] as const)
        outputs[`${name}.${of}`] = {
          ...scalar(Float64Array.from(means[of][name as 'cos_hidden'] ?? []), 0, on),
          expected: (both.raw(of) as number[]).flat(),
        }
    }
  }
  return check(c, `forward_means.${t}`, on, outputs)
}

const at = (values: Float64Array | undefined, l: number): number => values?.[l] ?? Number.NaN
