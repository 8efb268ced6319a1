// Runs that are observed, for tests.
import { Gpu } from '../../kernels/device/gpu.ts'
import type { RlPhase } from '../config/phase.ts'
import type { TrainerConfig } from '../config/trainer_config.ts'
import { CONFIG, RL, SFT } from '../testing.ts'
import type { StepResult } from '../train/parts/step_result.ts'
import { Trainer } from '../train/trainer.ts'
import { OBSERVED_GROUPS, type ObservationRequest, type ObservedGroup } from './observation.ts'

export const GROUPS = Object.keys(OBSERVED_GROUPS) as ObservedGroup[]
export const SAID = { prompt: '3+=', response: '42', is_ended: false }
export const ALL: ObservationRequest = {
  groups: GROUPS,
  layer: 2,
  lens: { held_out: 2, samples: [SAID] },
  tokens: false,
  token_layers: false,
  every: 1,
}
export const ROUNDING = { atol: 3e-5, rtol: 2e-5 }
export const L = CONFIG.model.num_hidden_layers
export const INNER: RlPhase = { ...RL, name: 'inner', steps: 2, target_layer: 2 }
export const BUPO: TrainerConfig = {
  ...CONFIG,
  phases: [{ ...SFT, steps: 2 }, INNER, { ...RL, steps: 2 }],
  validation: { test_freq: 2, prompts: 10, n: 2 },
  probe: { freq: 1, rows: 8, internals: true },
}

/** Everything but wall times and what they decide, and what was asked for besides. */
export const numbers = (results: readonly StepResult[]) =>
  results.map(({ observation: _, trace: __, isMoment: ___, metrics, ...rest }) => ({
    ...rest,
    metrics: Object.fromEntries(
      Object.entries(metrics).filter(([name]) => !/^timing_|^perf\//.test(name)),
    ),
  }))

/** A whole run, each step queued before the numbers of the last are awaited. */
export async function train(config: TrainerConfig, request?: ObservationRequest) {
  const gpu = await Gpu.open()
  const trainer = await Trainer.create(gpu, config)
  if (request) trainer.observe(request)
  const results: StepResult[] = []
  let inFlight: Promise<StepResult> | undefined
  while (!trainer.isFinished) {
    const { result } = await trainer.queue()
    if (inFlight) results.push(await inFlight)
    inFlight = result
  }
  if (inFlight) results.push(await inFlight)
  const weights = await trainer.exportWeights()
  trainer.destroy()
  return { results, weights }
}
