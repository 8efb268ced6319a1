// Checks one part of the model replaced at every token: by zero, by its mean over the batch, or by
// a given vector.
import type { RefEdit } from '../../src/model/interventions/edits.ref.ts'
import {
  divergencesRef,
  entropiesRef,
  nextLogProbsRef,
  readPolicyRef,
  readStatesRef,
} from '../../src/model/interventions/readings.ref.ts'
import { logitsRef } from '../../src/model/transformer/policy.ref.ts'
import type { Check } from '../base/report.ts'
import { check, joined } from '../hf/model_case.ts'
import { meanOver, stateOf } from './component_states.ts'
import {
  type InterventionCase,
  outputsOf,
  type Runner,
  type States,
  upTo,
} from './intervention_case.ts'

/** The goldens' names of the parts. */
const PARTS = {
  head: 'head',
  attn: 'attention',
  ffn: 'feed_forward',
  block: 'block',
} as const
type Part = keyof typeof PARTS
const PART_NAMES = Object.keys(PARTS) as Part[]

/** Entropies of states that many passes share, by how they are read. */
const known = {
  raw: new WeakMap<Float64Array, Float64Array>(),
  normed: new WeakMap<Float64Array, Float64Array>(),
}

/** What a changed pass of the main batch is measured by, beside the untouched final policy [M,
 * V]. */
export function measured(
  { model: { config }, params, rows }: InterventionCase,
  untouched: Float64Array,
  states: States,
  hasEntropies: boolean,
): Record<string, Float64Array> {
  const final = readPolicyRef(config, params, states[states.length - 1], 'normed')
  const entropies = (reading: 'raw' | 'normed') =>
    joined(
      states.map((x) => {
        const entropy =
          known[reading].get(x) ?? entropiesRef(rows, readPolicyRef(config, params, x, reading))
        known[reading].set(x, entropy)
        return entropy
      }),
    )
  return {
    logp_next: nextLogProbsRef(rows, final),
    kl: divergencesRef(rows, untouched, final),
    kl_rev: divergencesRef(rows, final, untouched),
    ...(hasEntropies && { ent_raw: entropies('raw'), ent_norm: entropies('normed') }),
  }
}

/** [M, V] logits as the case stores them: of some rows, zero at padding. */
export function storedLogits(c: InterventionCase, logits: Float64Array): Float64Array {
  const { width: S, attention_mask } = c.rows
  const V = c.shape.vocab_size
  const chosen = [...c.settings.vector('logits_rows')]
  return joined(
    chosen.map((b) =>
      logits
        .subarray(b * S * V, (b + 1) * S * V)
        .map((x, i) => (attention_mask[b * S + Math.floor(i / V)] ? x : 0)),
    ),
  )
}

/** Final logits of a pass, [M, V]. */
export const finalLogits = ({ model: { config }, params }: InterventionCase, states: States) =>
  logitsRef(config, params, readStatesRef(config, params, states[states.length - 1], 'normed'))

/** Arrays of many passes by name, each joined along its first axis. */
export function stacked(
  title: string,
  found: Readonly<Record<string, readonly Float64Array[]>>,
): Record<string, Float64Array> {
  return Object.fromEntries(
    Object.entries(found).map(([name, x]) => [`${title}.${name}`, joined(x)]),
  )
}

/** Section 2. */
export async function* ablationChecks(c: InterventionCase, runner: Runner): AsyncGenerator<Check> {
  const { num_hidden_layers: L, num_attention_heads: H } = c.shape
  const means = meansOf(c)
  const computed = PART_NAMES.map((part) => [`abl.mean_${part}`, joined(means[part])] as const)
  if (runner.on === 'reference')
    yield check(c, 'abl.means', 'reference', outputsOf(c, Object.fromEntries(computed)))
  const [final] = (await runner.run(c.rows, [])).slice(L)
  const logP = readPolicyRef(c.model.config, c.params, final, 'normed')
  for (const how of ['zero', 'mean', 'const'] as const)
    for (const part of PART_NAMES) {
      const title = `abl.${how}.${part}`
      const hasEntropies = c.expected.has(`${title}.ent_raw`)
      const found: Record<string, Float64Array[]> = {}
      for (const edit of editsOf(c, how, part, means)) {
        const states = await runner.run(c.rows, [edit])
        for (const [name, x] of Object.entries(measured(c, logP, states, hasEntropies))) {
          found[name] ??= []
          found[name].push(x)
        }
        if (edit.layer === 2 && (edit.head ?? H - 1) === H - 1)
          found.logits_l2 = [storedLogits(c, finalLogits(c, states))]
      }
      yield check(c, title, runner.on, outputsOf(c, stacked(title, found)))
    }
}

type Means = Readonly<Record<Part, readonly Float64Array[]>>

/** Means of every part in the untouched run, in the order of editsOf. */
function meansOf({ shape, rows, untouched }: InterventionCase): Means {
  const D = shape.head_dim
  const of = (part: Part) =>
    upTo(shape.num_hidden_layers).map((l) => meanOver(rows, stateOf(untouched, PARTS[part], l + 1)))
  const heads = of('head').flatMap((mean) =>
    upTo(shape.num_attention_heads).map((h) => mean.subarray(h * D, (h + 1) * D)),
  )
  return { head: heads, attn: of('attn'), ffn: of('ffn'), block: of('block') }
}

/** One change for each block, or each head of each block. */
function editsOf(
  { shape, expected }: InterventionCase,
  how: 'zero' | 'mean' | 'const',
  part: Part,
  means: Means,
): RefEdit[] {
  const { num_hidden_layers: L, num_attention_heads: H, head_dim: D, hidden_size: C } = shape
  const isHead = part === 'head'
  const given = how === 'const' && expected.numbers(isHead ? 'in.const_head' : 'in.const_resid')
  return means[part].map((mean, i) => ({
    where: PARTS[part],
    layer: Math.floor(i / (means[part].length / L)) + 1,
    ...(isHead && { head: i % H }),
    values: given || (how === 'mean' ? mean : new Float64Array(isHead ? D : C)),
  }))
}
