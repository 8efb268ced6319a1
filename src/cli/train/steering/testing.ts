// A real trainer run through a document, with a person’s part said beforehand, for tests.
import { Gpu } from '../../../kernels/device/gpu.ts'
import { parseExperiment } from '../../../lab/experiment/experiment.ts'
import type { Experiment } from '../../../lab/experiment/schema.ts'
import type { SteeringAction } from '../../../lab/experiment/steering/actions.ts'
import { type Steered, SteeredRun } from '../../../lab/worker/steered_run.ts'
import { steeredEngine } from '../../../rl/train/engine.ts'
import type { StepResult } from '../../../rl/train/step_result.ts'

export const parsed = (document: unknown): Experiment => {
  const result = parseExperiment(document)
  if (!result.ok) throw new Error(JSON.stringify(result.issues))
  return result.experiment
}
export const phase = (document: object) =>
  parsed({ ...TINY, phases: [{ kind: 'sft' }, document] }).phases[1]

export const TINY = {
  seed: 3,
  task: { id: 'sort_digits', length: 2 },
  model: {
    hidden_size: 16,
    num_hidden_layers: 2,
    num_attention_heads: 2,
    num_key_value_heads: 1,
    head_dim: 8,
    intermediate_size: 24,
  },
  rollout: { train_batch_size: 4, n: 4 },
  actor: { ppo_mini_batch_size: 2, optim: { lr: 0.002, lr_warmup_steps: 2 } },
  critic: { optim: { lr: 0.002 } },
  validation: { test_freq: 3, prompts: 8, n: 1 },
  probe: { rows: 8 },
}

export const numbers = ({ metrics, ...rest }: StepResult) => ({
  ...rest,
  metrics: Object.fromEntries(
    Object.entries(metrics).filter(([name]) => !/^timing_|^perf\//.test(name)),
  ),
})

/** Runs a document to its end or to step `until`; `hands` does something after the step that it is named by. */
export async function run(
  document: Experiment,
  hands: Readonly<Record<number, SteeringAction[]>> = {},
  until = Number.POSITIVE_INFINITY,
) {
  const gpu = await Gpu.open()
  const run = await SteeredRun.begin(steeredEngine(gpu, undefined), document)
  const results: StepResult[] = []
  const done: Steered[] = []
  const trainers = new Set()
  for (;;) {
    for (const action of results.length > 0 ? (hands[run.trainer.step] ?? []) : [])
      run.steer(action)
    done.push(...(await run.obey()))
    trainers.add(run.trainer)
    if (run.isFinished || results.length > until) break
    const { result } = await run.queue()
    results.push(await result)
  }
  const { actor } = await run.trainer.exportState()
  gpu.destroy()
  return {
    results: results.map(numbers),
    weights: actor.weights,
    done,
    rebuilds: trainers.size - 1,
  }
}

export const startedBy = (results: readonly ReturnType<typeof numbers>[]) =>
  results.flatMap(({ step, phase_started: p }) => (p ? [[step, p.phase, p.reason]] : []))
