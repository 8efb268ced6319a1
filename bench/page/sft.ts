// Times one supervised training step of the same transformer in Understory, jax-js and
// TensorFlow.js on the same adapter: first their losses are compared, then they are timed in turn.
import { trainerConfig } from '../../src/document/experiment/trainer_config.ts'
import { presetOf } from '../../src/document/presets/presets.ts'
import { modelShape } from '../../src/model/layout/config.ts'
import { initialWeights, paramLayout } from '../../src/model/layout/params.ts'
import type { SftPhase } from '../../src/rl/config/phase.ts'
import { makeBatch, promptBatch } from '../../src/rl/experience/batch.ts'
import { jaxSft } from '../peers/jax.ts'
import type { SftProblem, SftRunner } from '../peers/problem.ts'
import { tfjsSft } from '../peers/tfjs.ts'
import { actorSft, randomProblem, SMALL_MODEL } from './actor_sft.ts'
import { median } from './median.ts'
import { openPeers } from './open.ts'
import { progress } from './progress.ts'

/** A library gets fewer samples, at least one, if they would take longer than this. */
const BUDGET_MS = 30_000
/** Steps whose losses are compared: the first and three more. They also warm up. */
const CHECKED = 4
/** A software adapter takes seconds for what a GPU does in milliseconds, so it gets less work.
 * `share`: of a preset's batch; `wide`: rows and columns of the 5M model's batch; `samples`: of a
 * step that is awaited; `queued`: steps queued at once for throughput, and how often. */
const AMOUNT = {
  gpu: { share: 1, wide: [16, 64], samples: 10, queued: 4, queued_samples: 5 },
  software: { share: 1 / 8, wide: [1, 32], samples: 3, queued: 2, queued_samples: 1 },
} satisfies Record<string, { wide: [number, number]; [name: string]: unknown }>

export interface SftRow {
  readonly model: string
  readonly num_parameters: number
  /** Rows and columns of the batch. */
  readonly rows: number
  readonly width: number
  /** Tokens with a loss. */
  readonly response_tokens: number
  /** Median milliseconds of a step that is awaited, per library. */
  readonly ms: Readonly<Record<string, number>>
  /** The samples behind it. */
  readonly samples: Readonly<Record<string, readonly number[]>>
  /** Median milliseconds per step when several are queued back to back; absent for a library too
   * slow for it. */
  readonly queued_ms: Readonly<Record<string, number>>
  readonly checked: Readonly<Record<string, Checked>>
  /** A library that could not do the step, and why. */
  readonly failed: Readonly<Record<string, string>>
  /** Whether the adapter is a CPU; batches are smaller then. */
  readonly is_software: boolean
}

/** The first steps of a library. */
interface Checked {
  /** Loss before each step. */
  readonly losses: readonly number[]
  /** Gradient norm of each step, before clipping. */
  readonly grad_norms: readonly number[]
  /** Dispatches of one step. */
  readonly dispatches: number
  /** Milliseconds of the first step, in which the other libraries trace and compile. */
  readonly first_ms: number
  /** Of the last of these steps. */
  readonly step_ms: number
}

/** The warm start of a preset on a share of its first batch, at its peak learning rate. */
function presetProblem(presetId: string, share: number): SftProblem {
  const preset = presetOf(presetId)
  if (!preset) throw new RangeError(`no preset ${presetId}`)
  const { seed, task, model, phases } = trainerConfig(preset.experiment)
  const whole = phases.find((phase): phase is SftPhase => phase.kind === 'sft')
  if (!whole) throw new RangeError(`preset ${presetId} has no sft phase`)
  const phase = { ...whole, batch_size: Math.ceil(whole.batch_size * share) }
  const layout = paramLayout(modelShape(model))
  const { tokenizer } = task
  const R = task.max_response_length
  const samples = Array.from({ length: phase.batch_size }, (_, i) => task.sample(seed, i, 'train'))
  const responseIds = new Uint32Array(samples.length * R).fill(tokenizer.pad_token_id)
  samples.forEach(({ demonstration }, b) => {
    const ids = [...tokenizer.encode(demonstration), tokenizer.eos_token_id]
    responseIds.set(ids.slice(0, R), b * R)
  })
  const size = {
    rows: samples.length,
    prompt_length: task.max_prompt_length,
    response_length: R,
  }
  const prompts = promptBatch(samples, task)
  const batch = makeBatch(prompts, responseIds, size, tokenizer.eos_token_id)
  return { layout, weights: initialWeights(layout, seed), batch, phase }
}

/** 5 million weights on random tokens. */
const wideProblem = (rows: number, width: number): SftProblem =>
  randomProblem(
    {
      ...SMALL_MODEL,
      vocab_size: 512,
      hidden_size: 256,
      intermediate_size: 768,
      num_hidden_layers: 6,
      num_attention_heads: 8,
      num_key_value_heads: 8,
      head_dim: 32,
    },
    rows,
    width,
  )

/** How many dispatches `action` encodes, of any library. */
async function countDispatches(action: () => Promise<void>): Promise<number> {
  const encoder = GPUComputePassEncoder.prototype
  const { dispatchWorkgroups, dispatchWorkgroupsIndirect } = encoder
  let count = 0
  encoder.dispatchWorkgroups = function (...args) {
    count++
    return dispatchWorkgroups.apply(this, args)
  }
  encoder.dispatchWorkgroupsIndirect = function (...args) {
    count++
    return dispatchWorkgroupsIndirect.apply(this, args)
  }
  await action()
  Object.assign(encoder, { dispatchWorkgroups, dispatchWorkgroupsIndirect })
  return count
}

/** The first steps, one at a time. */
async function check(runner: SftRunner): Promise<Checked> {
  const losses: number[] = []
  const grad_norms: number[] = []
  let dispatches = 0
  const first_ms = await millisecondsPerStep(runner, 1)
  let step_ms = first_ms
  for (let i = 0; i < CHECKED; i++) {
    if (i > 0)
      dispatches = await countDispatches(async () => {
        step_ms = await millisecondsPerStep(runner, 1)
      })
    const { loss, grad_norm } = await runner.read()
    losses.push(loss)
    grad_norms.push(grad_norm)
  }
  return { losses, grad_norms, dispatches, first_ms, step_ms }
}

/** Milliseconds per step of `steps` steps that are queued at once and awaited together. */
async function millisecondsPerStep(runner: SftRunner, steps: number): Promise<number> {
  const start = performance.now()
  for (let i = 0; i < steps; i++) runner.step()
  await runner.finish()
  return (performance.now() - start) / steps
}

/** `model` is the id of a preset, or '5m'. */
export async function benchSft(model: string): Promise<SftRow> {
  const gpu = await openPeers()
  const amount = AMOUNT[gpu.facts.is_software ? 'software' : 'gpu']
  const problem = model === '5m' ? wideProblem(...amount.wide) : presetProblem(model, amount.share)
  const makers: Record<string, () => SftRunner | Promise<SftRunner>> = {
    understory: () => actorSft(gpu, problem),
    'jax-js': () => jaxSft(problem),
    'tfjs-webgpu': () => tfjsSft(problem),
  }
  const runners: Record<string, SftRunner> = {}
  const checked: Record<string, Checked> = {}
  const failed: Record<string, string> = {}
  for (const [name, make] of Object.entries(makers)) {
    progress(`${model}: ${name}`)
    try {
      const runner = await make()
      checked[name] = await check(runner)
      runners[name] = runner
    } catch (error) {
      failed[name] = String((error as Error).stack ?? error)
    }
  }
  progress(`${model}: all in turn`)
  const samples = await sampleInTurn(runners, checked, amount.samples, 1, true)
  const queued = await sampleInTurn(runners, checked, amount.queued_samples, amount.queued, false)
  for (const runner of Object.values(runners)) runner.destroy()
  const medians = (all: Record<string, number[]>) =>
    Object.fromEntries(Object.entries(all).map(([name, ms]) => [name, median(ms)]))
  const { prompt_length, response_length, response_mask } = problem.batch
  return {
    model,
    num_parameters: problem.layout.num_parameters,
    rows: problem.batch.rows,
    width: prompt_length + response_length,
    response_tokens: response_mask.reduce((a, b) => a + b, 0),
    ms: medians(samples),
    samples,
    queued_ms: medians(queued),
    checked,
    failed,
    is_software: gpu.facts.is_software,
  }
}

/** Samples of all libraries in turn, so that other load on the machine affects all alike. A library
 * too slow for all of them gets fewer; if `isNeeded`, at least one. */
async function sampleInTurn(
  runners: Readonly<Record<string, SftRunner>>,
  checked: Readonly<Record<string, Checked>>,
  count: number,
  steps: number,
  isNeeded: boolean,
): Promise<Record<string, number[]>> {
  const samples: Record<string, number[]> = {}
  for (let i = 0; i < count; i++)
    for (const [name, runner] of Object.entries(runners)) {
      const endMs = (i + 1) * steps * checked[name].step_ms
      if (endMs > BUDGET_MS && !(isNeeded && i === 0)) continue
      samples[name] ??= []
      samples[name].push(await millisecondsPerStep(runner, steps))
    }
  return samples
}
