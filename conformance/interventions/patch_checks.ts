// Checks activations carried from one run into another, layer by layer and column by column.
import type { RefEdit, RefPlace } from '../../src/model/interventions/edits.ref.ts'
import { logSoftmax, type RefBatch } from '../../src/model/transformer/operations.ref.ts'
import { forwardRef, type RefCache } from '../../src/model/transformer/transformer.ref.ts'
import type { Check } from '../base/report.ts'
import { check } from '../hf/model_case.ts'
import { finalLogits } from './ablation_checks.ts'
import { headOf, stateOf } from './component_states.ts'
import { type InterventionCase, outputsOf, type Runner, upTo } from './intervention_case.ts'

/** The answer's numbers of every row. */
interface Answers {
  readonly logit_diff: readonly number[]
  readonly logp: readonly number[]
  readonly logits_last: Float64Array
}

/** Runs that patches start from, and what they are measured by. */
interface Pair {
  readonly clean: RefBatch
  readonly corrupt: RefBatch
  readonly cleanCache: RefCache
  readonly corruptCache: RefCache
  readonly answer: Uint32Array
  readonly wrong: Uint32Array
  readonly answer_col: Uint32Array
}

const PATCHED = [
  { name: 'attn', where: 'attention' },
  { name: 'ffn', where: 'feed_forward' },
] as const satisfies readonly { name: string; where: RefPlace }[]

/** Section 3. */
export async function* patchChecks(c: InterventionCase, runner: Runner): AsyncGenerator<Check> {
  const pair = pairOf(c)
  const { clean, corrupt, cleanCache, corruptCache } = pair
  const { num_hidden_layers: L, num_attention_heads: H } = c.shape
  const S = clean.width
  const answers = async (rows: RefBatch, edits: readonly RefEdit[]) =>
    answersOf(c, pair, rows, await runner.run(rows, edits))
  const runs = { clean: await answers(clean, []), corrupt: await answers(corrupt, []) }
  const noise = noiseEdit(c, clean)
  const noised = await answers(clean, noise)
  yield check(c, 'patch.runs', runner.on, {
    ...runOutputs(c, 'clean', runs.clean),
    ...runOutputs(c, 'corrupt', runs.corrupt),
    ...runOutputs(c, 'noise', noised),
  })
  const at = (t: number | undefined, width: number) =>
    t === undefined ? {} : { isChosen: (m: number) => m % width === t }
  const carried = (from: RefCache, where: RefPlace, layer: number, t?: number, head?: number) => ({
    where,
    layer,
    ...at(t, S),
    ...(head !== undefined && { head }),
    values:
      head === undefined
        ? stateOf(from, where, layer)
        : headOf(stateOf(from, where, layer), c.shape, head),
  })
  const sweep = async (
    name: string,
    rows: RefBatch,
    edits: readonly RefEdit[][],
    base: Answers,
  ) => {
    const found: Answers[] = []
    for (const list of edits) found.push(await answers(rows, list))
    return check(c, `patch.${name}`, runner.on, sweepOutputs(c, name, found, runs.clean, base))
  }
  const residual = (from: RefCache, before: readonly RefEdit[] = []) =>
    upTo(L + 1).flatMap((l) => upTo(S).map((t) => [...before, carried(from, 'residual', l, t)]))
  yield await sweep('resid', corrupt, residual(cleanCache), runs.corrupt)
  for (const { name, where } of PATCHED) {
    const edits = upTo(L).flatMap((l) => upTo(S).map((t) => [carried(cleanCache, where, l + 1, t)]))
    yield await sweep(name, corrupt, edits, runs.corrupt)
  }
  const heads = upTo(L).flatMap((l) => upTo(H).map((h) => ({ l, h })))
  const eachColumn = heads.flatMap(({ l, h }) =>
    upTo(S).map((t) => [carried(cleanCache, 'head', l + 1, t, h)]),
  )
  yield await sweep('head', corrupt, eachColumn, runs.corrupt)
  const allColumns = heads.map(({ l, h }) => [carried(cleanCache, 'head', l + 1, undefined, h)])
  yield await sweep('head_all', corrupt, allColumns, runs.corrupt)
  yield await sweep('noising_resid', clean, residual(corruptCache), runs.corrupt)
  yield await sweep('noise_resid', clean, residual(cleanCache, noise), noised)
}

function pairOf({ expected, model: { config }, params }: InterventionCase): Pair {
  const ids = expected.tensor('in.clean_ids')
  const [rows, width] = ids.shape
  const shared = {
    rows,
    width,
    attention_mask: expected.ids('in.patch_attention_mask'),
    position_ids: expected.ids('in.patch_position_ids'),
  }
  const clean = { ...shared, input_ids: expected.ids('in.clean_ids') }
  const corrupt = { ...shared, input_ids: expected.ids('in.corrupt_ids') }
  return {
    clean,
    corrupt,
    cleanCache: forwardRef(config, params, clean),
    corruptCache: forwardRef(config, params, corrupt),
    answer: expected.ids('in.answer'),
    wrong: expected.ids('in.wrong'),
    answer_col: expected.ids('in.answer_col'),
  }
}

/** Noise on the embedding of the corrupted columns. */
function noiseEdit({ expected }: InterventionCase, { rows, width }: RefBatch): RefEdit[] {
  const mask = expected.ids('in.corrupt_mask')
  const values = expected.numbers('in.noise')
  if (values.length % (rows * width) !== 0) return []
  return [{ where: 'residual', layer: 0, isChosen: (m) => mask[m] === 1, adds: true, values }]
}

function answersOf(
  c: InterventionCase,
  { answer, wrong, answer_col }: Pair,
  { rows, width }: RefBatch,
  states: Awaited<ReturnType<Runner['run']>>,
): Answers {
  const { hidden_size: C, vocab_size: V, num_hidden_layers: L } = c.shape
  const last = new Float64Array(rows * C)
  for (const b of upTo(rows)) {
    const m = b * width + answer_col[b]
    last.set(states[L].subarray(m * C, (m + 1) * C), b * C)
  }
  const logits_last = finalLogits(c, [last])
  const logits = upTo(rows).map((b) => logits_last.subarray(b * V, (b + 1) * V))
  return {
    logits_last,
    logit_diff: logits.map((z, b) => z[answer[b]] - z[wrong[b]]),
    logp: logits.map((z, b) => logSoftmax(z)[answer[b]]),
  }
}

const runOutputs = (c: InterventionCase, name: string, found: Answers) =>
  outputsOf(c, {
    [`patch.${name}.logit_diff`]: found.logit_diff,
    [`patch.${name}.logp`]: found.logp,
    [`patch.${name}.logits_last`]: found.logits_last,
  })

const mean = (x: readonly number[]) => x.reduce((a, b) => a + b, 0) / x.length

/** recovery: 0 = the run that is patched, 1 = the clean run; `base` is the run that is patched. */
function sweepOutputs(
  c: InterventionCase,
  name: string,
  found: readonly Answers[],
  clean: Answers,
  base: Answers,
) {
  const recovered = (patched: number, from: number, to: number) => (patched - from) / (to - from)
  return outputsOf(c, {
    [`patch.${name}.logit_diff`]: found.flatMap(({ logit_diff }) => logit_diff),
    [`patch.${name}.logp`]: found.flatMap(({ logp }) => logp),
    [`patch.${name}.recovery`]: found.flatMap(({ logit_diff }) =>
      logit_diff.map((x, b) => recovered(x, base.logit_diff[b], clean.logit_diff[b])),
    ),
    [`patch.${name}.recovery_batch`]: found.map(({ logit_diff }) =>
      recovered(mean(logit_diff), mean(base.logit_diff), mean(clean.logit_diff)),
    ),
    [`patch.${name}.indirect_effect`]: found.flatMap(({ logp }) =>
      logp.map((x, b) => Math.exp(x) - Math.exp(base.logp[b])),
    ),
  })
}
