// Measures how the cost of a token and the memory of a run grow: one supervised step of a small
// model, with one size at a time changed. Forward, cross-entropy, backward, clip and AdamW on
// random tokens without padding.

import type { MemoryKind } from '../../src/kernels/device/base/tensor.ts'
import { Gpu } from '../../src/kernels/device/gpu.ts'
import type { ModelConfig } from '../../src/model/layout/config.ts'
import type { TrainerConfig } from '../../src/rl/config/trainer_config.ts'
import { planMemory } from '../../src/rl/train/parts/memory.ts'
import type { Task } from '../../src/tasks/task/task.ts'
import { arithmetic } from '../../src/tasks/tokenizers/arithmetic.ts'
import { actorSft, randomProblem, SMALL_MODEL, sftPhase } from './actor_sft.ts'
import { median } from './median.ts'
import { progress } from './progress.ts'

/** All sizes but the varied one. Rows are `batch`, columns `context`. */
const BASE = { batch: 16, layers: 4, context: 32, vocabulary: 26 }
export type ScalingAxis = keyof typeof BASE

const AXES: Readonly<Record<ScalingAxis, readonly number[]>> = {
  batch: [8, 16, 32, 64, 128, 256, 512],
  layers: [2, 4, 8, 16, 24],
  context: [16, 32, 64, 128, 256, 512],
  vocabulary: [26, 128, 512, 2048, 8192, 50000],
}

/** Steps are timed until one of these limits, at least twice; once where a step takes long. */
const BUDGET_MS = 500
const MOST_STEPS = 10
const SLOW_MS = 4000

export interface ScalingPoint {
  /** The varied size. */
  readonly value: number
  /** Rows · columns of one step. */
  readonly tokens: number
  readonly num_parameters: number
  readonly vocab_size: number
  /** Median milliseconds of an awaited step. */
  readonly ms: number
  readonly ms_per_token: number
  /** What `planMemory` says such a run takes, in bytes. */
  readonly planned_bytes: Readonly<Record<MemoryKind, number>>
  /** Mean cross-entropy before the first step, nats: close to ln V for a new model. */
  readonly loss: number
}

export interface ScalingRow {
  readonly axis: ScalingAxis
  /** The base model's place on this axis. */
  readonly base: number
  readonly points: readonly ScalingPoint[]
}

type Sizes = Readonly<Record<ScalingAxis, number>>

const modelOf = ({ layers, vocabulary }: Sizes): ModelConfig => ({
  ...SMALL_MODEL,
  num_hidden_layers: layers,
  vocab_size: vocabulary,
})

/** The run whose memory is planned: of its task only the lengths matter. */
function configOf(sizes: Sizes): TrainerConfig {
  const unused = () => {
    throw new Error('scaling: the plan asks for no samples')
  }
  const task: Task = {
    id: 'random_tokens',
    tokenizer: arithmetic,
    max_prompt_length: 1,
    max_response_length: sizes.context - 1,
    test_size: 0,
    train_size: 0,
    exact_match: false,
    sample: unused,
    score: unused,
  }
  return {
    seed: 1,
    task,
    model: modelOf(sizes),
    phases: [sftPhase(sizes.batch)],
    validation: { test_freq: null, prompts: 1, n: 1 },
    probe: { freq: null, rows: 1 },
  }
}

async function measure(sizes: Sizes): Promise<Omit<ScalingPoint, 'value'>> {
  const plan = planMemory(configOf(sizes))
  const gpu = await Gpu.open({ largest: plan.largest })
  const problem = randomProblem(modelOf(sizes), sizes.batch, sizes.context)
  const runner = await actorSft(gpu, problem)
  // The first step warms up.
  const began = performance.now()
  runner.step()
  const { loss } = await runner.read()
  const least = performance.now() - began > SLOW_MS ? 1 : 2
  const samples: number[] = []
  const end = performance.now() + BUDGET_MS
  while (samples.length < MOST_STEPS) {
    if (samples.length >= least && performance.now() > end) break
    const start = performance.now()
    runner.step()
    await runner.finish()
    samples.push(performance.now() - start)
  }
  runner.destroy()
  const tokens = sizes.batch * sizes.context
  const ms = median(samples)
  return {
    tokens,
    num_parameters: problem.layout.num_parameters,
    vocab_size: sizes.vocabulary,
    ms,
    ms_per_token: ms / tokens,
    planned_bytes: plan.bytes,
    loss,
  }
}

/** All axes, in the order in which they are measured. */
export const scalingAxes = (): ScalingAxis[] => Object.keys(AXES) as ScalingAxis[]

/** One axis. Each axis measures the base model again, so that neighbouring points are measured
 * close in time. */
export async function benchScaling(axis: ScalingAxis): Promise<ScalingRow> {
  const points: ScalingPoint[] = []
  for (const value of AXES[axis]) {
    progress(`${axis} ${value}`)
    points.push({ value, ...(await measure({ ...BASE, [axis]: value })) })
  }
  return { axis, base: BASE[axis], points }
}
