// Checks what every head attends to and writes, and what each part of the model adds to a logit.
import {
  type Attribution,
  attributionRef,
  headWriteRef,
  meanUnembedding,
  probsOf,
  rowNorms,
  unembeddingOf,
  valueNormsRef,
} from '../../src/model/interventions/attribution.ref.ts'
import type { Check } from '../base/report.ts'
import { check, joined } from '../hf/model_case.ts'
import { type InterventionCase, outputsOf, upTo } from './intervention_case.ts'

/** Section 1. */
export function* attentionChecks(c: InterventionCase): Generator<Check> {
  const { num_hidden_layers: L, num_attention_heads: H, hidden_size: C } = c.shape
  const { rows, untouched, params } = c
  const { config } = c.model
  const row = c.settings.number('head_write_row')
  const S = rows.width
  const writes = upTo(L).map((l) =>
    upTo(H).map((h) => ({
      write: headWriteRef(config, params, untouched, l, h),
      value_norms: valueNormsRef(config, params, untouched, l, h),
    })),
  )
  const ofAll = (value: (b: number, l: number, h: number) => ArrayLike<number>) =>
    joined(
      upTo(rows.rows).flatMap((b) => upTo(L).flatMap((l) => upTo(H).map((h) => value(b, l, h)))),
    )
  const probs = (b: number, l: number, h: number) => probsOf(config, untouched.blocks[l], S, b, h)
  const isReal = (m: number) => rows.attention_mask[m]
  const computed = {
    'attn.probs': ofAll(probs),
    'attn.weighted_value_norm': ofAll((b, l, h) =>
      probs(b, l, h).map((p, i) => p * writes[l][h].value_norms[b * S + (i % S)]),
    ),
    'attn.head_write_norm': ofAll((b, l, h) =>
      rowNorms(writes[l][h].write.subarray(b * S * C, (b + 1) * S * C), C).map((x, s) =>
        isReal(b * S + s) ? x : 0,
      ),
    ),
    'attn.head_write': joined(
      upTo(L).flatMap((l) =>
        upTo(H).map((h) =>
          writes[l][h].write
            .subarray(row * S * C, (row + 1) * S * C)
            .map((x, i) => (isReal(row * S + Math.floor(i / C)) ? x : 0)),
        ),
      ),
    ),
    'attn.entropy': ofAll((b, l, h) =>
      upTo(S).map((s) =>
        probs(b, l, h)
          .subarray(s * S, (s + 1) * S)
          .reduce((sum, p) => (p > 0 ? sum - p * Math.log(p) : sum), 0),
      ),
    ),
  }
  yield check(c, 'attn', 'reference', outputsOf(c, computed))
}

/** Section 5. */
export function* attributionChecks(c: InterventionCase): Generator<Check> {
  const { rows, params, untouched } = c
  const { config } = c.model
  const S = rows.width
  const alt = c.expected.ids('in.alt_ids')
  const altOf = (m: number) => alt[Math.floor(m / S) * (S - 1) + (m % S)]
  const u = (id: number) => unembeddingOf(config, params, id)
  const target = (m: number) => u(rows.input_ids[m + 1] ?? 0)
  const mean = meanUnembedding(config, params)
  const directions = {
    target,
    diff: (m: number) => target(m).map((x, i) => x - (u(altOf(m)) ?? [])[i]),
    centred: (m: number) => target(m).map((x, i) => x - mean[i]),
  }
  for (const [name, direction] of Object.entries(directions)) {
    const parts = attributionRef(config, params, untouched, (m) =>
      m % S < S - 1 ? direction(m) : new Float64Array(config.hidden_size),
    )
    yield check(c, `dla.${name}`, 'reference', outputsOf(c, named(c, `dla.${name}`, parts)))
  }
}

function named(c: InterventionCase, prefix: string, parts: Attribution) {
  const { width: S, attention_mask } = c.rows
  const cut = (x: Float64Array) =>
    x
      .map((value, m) => (attention_mask[m] && attention_mask[m + 1] ? value : 0))
      .filter((_, m) => m % S < S - 1)
  return {
    [`${prefix}.total`]: cut(parts.total),
    [`${prefix}.embed`]: cut(parts.embed),
    [`${prefix}.attn`]: joined(parts.attn.map(cut)),
    [`${prefix}.ffn`]: joined(parts.ffn.map(cut)),
    [`${prefix}.head`]: joined(parts.head.flat().map(cut)),
  }
}
