// A run that moves to other buffers while it is observed. Here, because lab may not load the GPU
// side.
import { expect, test } from 'vitest'
import { parseExperiment } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { NO_OBSERVATION, type ObservationRequest } from '../../host/protocol/observation.ts'
import { SteeredRun } from '../../host/worker/base/steered_run.ts'
import { Gpu } from '../../kernels/device/gpu.ts'
import { steeredEngine } from '../../rl/train/engine.ts'
import type { StepResult } from '../../rl/train/parts/step_result.ts'

const REQUEST: ObservationRequest = {
  ...NO_OBSERVATION,
  groups: ['entropy', 'flow', 'cosines', 'similarity'],
  lens: { held_out: 1, samples: [] },
  tokens: true,
}

function parsed(document: unknown): Experiment {
  const result = parseExperiment(document)
  if (!result.ok) throw new Error(JSON.stringify(result.issues))
  return result.experiment
}

const DOCUMENT = parsed({
  seed: 3,
  task: { id: 'sort_digits', length: 2 },
  model: {
    hidden_size: 16,
    intermediate_size: 24,
    num_hidden_layers: 3,
    num_attention_heads: 2,
    num_key_value_heads: 1,
    head_dim: 8,
  },
  rollout: { train_batch_size: 4, n: 4 },
  actor: { ppo_mini_batch_size: 2, optim: { lr: 0.002, lr_warmup_steps: 2 } },
  validation: { test_freq: 2, prompts: 8, n: 1 },
  probe: { rows: 8 },
  phases: [
    { kind: 'sft', steps: 1 },
    { kind: 'rl', steps: 1, target_layer: 2 },
    { kind: 'rl', steps: 3 },
  ],
  // A larger batch, longer responses: other buffers.
  steering: [
    {
      step: 3,
      kind: 'insert_phase',
      phase: {
        kind: 'rl',
        steps: 2,
        rollout: { train_batch_size: 8, max_response_length: 6 },
      },
    },
  ],
})

async function run(request: ObservationRequest) {
  const gpu = await Gpu.open()
  const steered = await SteeredRun.begin(steeredEngine(gpu, undefined), DOCUMENT)
  steered.observe(request)
  const results: StepResult[] = []
  const first = steered.trainer
  for (;;) {
    const refused = (await steered.obey()).flatMap((done) => done.refused ?? [])
    expect(refused).toEqual([])
    if (steered.isFinished) break
    results.push(await (await steered.queue()).result)
  }
  const { actor } = await steered.trainer.exportState()
  const { probes } = gpu.memory()
  gpu.destroy()
  return { results, weights: actor.weights, probes, has_moved: steered.trainer !== first }
}

const numbers = ({ observation: _, trace: __, metrics, ...rest }: StepResult) => ({
  ...rest,
  metrics: Object.fromEntries(
    Object.entries(metrics).filter(([name]) => !/^timing_|^perf\//.test(name)),
  ),
})

test('being observed survives a move to other buffers and changes no bit', async () => {
  const plain = await run(NO_OBSERVATION)
  const seen = await run(REQUEST)
  expect(plain.probes).toBe(0)
  expect(seen.probes).toBeGreaterThan(0)
  expect([plain.has_moved, seen.has_moved]).toEqual([true, true])
  expect(seen.results.map(numbers)).toEqual(plain.results.map(numbers))
  expect(seen.weights).toEqual(plain.weights)
  for (const { step, observation, trace, samples } of seen.results) {
    expect(Object.keys(observation?.cost_ms ?? {}), `step ${step}`).toHaveLength(5)
    expect(observation?.lenses).toHaveLength(1)
    expect(trace !== undefined).toBe(samples.length > 0)
  }
})
