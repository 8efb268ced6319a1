// Checks the training of LoRA adapters as PEFT does it: supervised and with PPO, by the reference
// and by the trainer's actor.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { modelDirectory } from '../../src/cli/input/model_dir.ts'
import { readAdapter, withAdapter } from '../../src/model/hf/peft_adapter.ts'
import { unpackWeights } from '../../src/model/layout/params.ts'
import type { Context } from '../base/fixture.ts'
import type { Check, Output, Place } from '../base/report.ts'
import { joined } from './model_case.ts'
import {
  batchCount,
  FIRST_ROWS,
  goldenOf,
  goldenRow,
  openPeftCase,
  type PeftCase,
  peftBatch,
} from './peft_case.ts'
import { peftRunGpu } from './peft_gpu_run.ts'
import { peftRunRef } from './peft_ref_run.ts'
import type { PeftRun } from './peft_run.ts'
import { append, type Series } from './trajectory_check.ts'

type Numbers = ArrayLike<number>

/** Tolerances of the goldens' README. */
const TOLERANCE: Readonly<Record<string, number>> = {
  loss: 5e-5,
  ppo_kl: 5e-5,
  kl_loss: 5e-5,
  grad_norm: 2e-4,
  pg_clipfrac: 1e-6,
  logits: 2e-4,
  trained_logits: 1e-3,
  log_probs: 1e-4,
  merged: 1e-6,
  adapter: 2e-4,
}
const within = (kind: string) => ({ rtol: 0, atol: TOLERANCE[kind] })

/** The checks of one folder of PEFT training. */
export async function* peftCase(
  folder: string,
  { gpu, ...pinned }: Context,
): AsyncGenerator<Check> {
  const c = await openPeftCase(folder, pinned)
  yield settingsCheck(c)
  yield await mergedCheck(c)
  yield* runChecks(c, () => peftRunRef(c), 'reference')
  if (gpu) yield* runChecks(c, () => peftRunGpu(c, gpu), 'gpu')
}

const title = ({ name }: PeftCase, what: string) => `peft_train/${name}/${what}`

/** Scale, number of parameters, and which modules have factors. */
function settingsCheck(c: PeftCase): Check {
  const golden = c.json.fields('lora')
  const modules = c.layout.params
    .map(({ name }) => /^base_model\.model\.(.+)\.lora_A\.weight$/.exec(name)?.[1])
    .filter((module) => module !== undefined)
  const { scale, num_parameters } = c.layout
  const outputs: Record<string, Output> = {
    scaling: { actual: scale, expected: golden.number('scaling'), tolerance: within('merged') },
    modules: {
      actual: modules.sort(),
      expected: golden.texts('modules').sort(),
      tolerance: 'exact',
    },
    trainable_parameters: {
      actual: num_parameters,
      expected: golden.number('trainable_parameters'),
      tolerance: 'exact',
    },
  }
  return { case: title(c, 'settings'), on: 'driver', outputs }
}

/** The adapter after reinforcement, merged by the reader: every targeted matrix, and nothing
 * else. */
async function mergedCheck(c: PeftCase): Promise<Check> {
  const merged = await withAdapter(c.model, modelDirectory(join(c.folder, 'adapter_grpo')))
  const named = unpackWeights(c.model.layout, merged.weights)
  const outputs: Record<string, Output> = {}
  for (const [name, { data }] of c.tensors)
    if (name.startsWith('merged.'))
      outputs[name] = {
        actual: Float64Array.from(named[name.slice('merged.'.length)]),
        expected: Float64Array.from(data),
        tolerance: within('merged'),
      }
  const changed = Object.keys(named).filter((name) =>
    named[name].some((x, i) => x !== c.params[name][i]),
  )
  outputs.others = {
    actual: changed.filter((name) => !(`merged.${name}` in outputs)),
    expected: [],
    tolerance: 'exact',
  }
  return { case: title(c, 'merged'), on: 'driver', outputs }
}

/** Both trajectories, each from the first adapter. */
async function* runChecks(
  c: PeftCase,
  begin: () => PeftRun | Promise<PeftRun>,
  on: Place,
): AsyncGenerator<Check> {
  const probe = peftBatch(c, 0)
  const run = await begin()
  const { attention_mask } = probe
  const logits = async (from: PeftRun, name: string, isOn: boolean) =>
    output(c, `logits.${name}`, await from.logits(probe, isOn), attention_mask)
  yield {
    case: title(c, 'start'),
    on,
    outputs: { init: await logits(run, 'init', true), off: await logits(run, 'off', false) },
  }
  const supervised: Series = {}
  for (let s = 0; s < c.json.fields('sft_series').vector('loss').length; s++)
    append(supervised, await run.supervised(peftBatch(c, s % batchCount(c))))
  yield {
    case: title(c, 'sft'),
    on,
    outputs: {
      ...seriesOutputs(c, 'sft_series', supervised),
      ...(await adapterOutput(c, 'adapter_sft', run)),
      logits: await logits(run, 'sft', true),
      off: await logits(run, 'off', false),
    },
  }
  const second = await begin()
  yield {
    case: title(c, 'grpo'),
    on,
    outputs: {
      ...(await reinforce(c, second)),
      ...(await adapterOutput(c, 'adapter_grpo', second)),
      logits: await logits(second, 'grpo', true),
      merged: await logits(second, 'grpo_merged', true),
      off: await logits(second, 'off', false),
    },
  }
}

/** All batches of reinforcement: series, and what the batches were scored with. */
async function reinforce(c: PeftCase, run: PeftRun): Promise<Record<string, Output>> {
  const series: Series = {}
  const [old, reference]: [Numbers[], Numbers[]] = [[], []]
  for (let b = 0; b < batchCount(c); b++) {
    const scored = await run.begin(peftBatch(c, b), goldenRow(c, 'data.advantages', b))
    old.push(scored.old_log_probs)
    reference.push(scored.ref_log_prob)
    for (const first of FIRST_ROWS) append(series, await run.update(first))
  }
  const mask = goldenOf(c, 'data.response_mask').data
  return {
    ...seriesOutputs(c, 'grpo_series', series),
    old_log_probs: output(c, 'grpo.old_log_probs', joined(old), mask),
    ref_log_probs: output(c, 'grpo.ref_log_probs', joined(reference), mask),
  }
}

/** An array of the goldens on the positions that the mask keeps. */
function output(c: PeftCase, name: string, actual: Numbers, mask: Numbers): Output {
  const { data, shape } = goldenOf(c, name)
  const inner = data.length / mask.length
  const kept = (values: Numbers) =>
    Float64Array.from({ length: values.length }, (_, i) =>
      mask[Math.floor(i / inner)] ? values[i] : 0,
    )
  const kind = /log_probs$/.test(name)
    ? 'log_probs'
    : /(init|off)$/.test(name)
      ? 'logits'
      : 'trained_logits'
  return { actual: kept(actual), expected: kept(data), shape, tolerance: within(kind) }
}

/** Every number of every update; the goldens' loss has its KL term in it. */
function seriesOutputs(c: PeftCase, name: string, series: Series): Record<string, Output> {
  const golden = c.json.fields(name)
  return Object.fromEntries(
    golden.names().map((key): [string, Output] => {
      const expected = golden.vector(key)
      const actual = Float64Array.from(series[key] ?? [])
      return [key, { actual, expected, shape: [expected.length], tolerance: within(key) }]
    }),
  )
}

/** √(Σ (x − ref)² / Σ (ref − start)²) over all factors. */
async function adapterOutput(
  c: PeftCase,
  folder: string,
  run: PeftRun,
): Promise<Record<string, Output>> {
  const file = join(c.folder, folder)
  if (!existsSync(file)) return {}
  const golden = await readAdapter(modelDirectory(file), c.model.layout)
  const factors = await run.factors()
  let [error, moved] = [0, 0]
  for (const [name, end] of Object.entries(golden.factors)) {
    error += squares(factors[name], end)
    moved += squares(end, c.adapter.factors[name])
  }
  const actual = Math.sqrt(error / moved)
  return { 'adapter.relative_l2': { actual, expected: 0, tolerance: within('adapter') } }
}

const squares = (a: Numbers, b: Numbers): number => {
  let sum = 0
  for (let i = 0; i < b.length; i++) sum += (a[i] - b[i]) ** 2
  return sum
}
