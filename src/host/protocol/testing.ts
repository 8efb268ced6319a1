// Makes up reports of a run for tests; never shipped.
import type { Profile } from '../../kernels/device/timing/profiler.ts'
import type { Peak } from '../../kernels/peak/peak.ts'
import type { Pairs } from '../../rl/config/phase.ts'
import {
  NO_OBSERVATION,
  type Observation,
  type ObservationRequest,
} from '../../rl/look/observation.ts'
import type { TokenTable } from '../../rl/look/token_table.ts'
import type { BenchmarkNumbers } from '../../rl/train/benchmark.ts'
import type { Generation } from '../../rl/train/parts/step_result.ts'
import type { RolloutSample } from './results.ts'
/** The only response of a step. */
export const sample = (step: number): RolloutSample => ({
  prompt: `${step}`,
  response: '',
  ground_truth: '',
  score: 1,
  advantage: 0,
  response_length: 1,
  is_ended: true,
})
export const GENERATION: Generation = {
  input: '21',
  output: '12',
  gts: '12',
  score: 1,
  do_sample: true,
  is_ended: true,
}

/** What a step shows that was asked for this. */
export const observation = ({ groups, layer }: ObservationRequest): Observation => ({
  num_hidden_layers: 2,
  rows: 'responses',
  tokens: 4,
  mean: {},
  std: {},
  layer,
  lenses: [],
  cost_ms: Object.fromEntries(groups.map((group) => [group, 1])),
})
export const asking = (
  groups: ObservationRequest['groups'],
  rest: Partial<ObservationRequest> = {},
): ObservationRequest => ({ ...NO_OBSERVATION, groups, ...rest })

export const ASKED = [0, 1, 2, 3, 4].map((id) => ({
  id,
  prompt: `${id}`,
  response_a: `a${id}`,
  response_b: `b${id}`,
}))
/** Two verdicts begin the training of pairs. */
export const PAIRS: Pairs = {
  source: 'human',
  count: 5,
  held_out: 0,
  temperature: 1,
  min_pairs: 2,
  verdicts: [],
}
export const FIRST = 'nt_m64_n32_k16'
export const SECOND = 'tn_m32_n16_k64'
export const ADAPTER = {
  vendor: 'v',
  architecture: 'a',
  description: '',
  features: [],
  max_buffer_bytes: 0,
  max_binding_bytes: 0,
  has_subgroups: false,
  has_f16: false,
}
export const TRACE = { rows: 4 } as TokenTable

export const PROFILE: Profile = {
  source: 'timestamps',
  resolutionNs: 1,
  kernels: [],
  stages: ['update_actor', 'observe_lens'].map((name) => ({
    name,
    calls: 1,
    time_ms: 250,
    flops: 0,
    bytes: 0,
  })),
  dispatches: 2,
  time_ms: 500,
}
export const PEAK: Peak = { gflops: 100, gbps: 10 }
export const NUMBERS: BenchmarkNumbers = {
  peak_gflops: 1,
  peak_gbps: 2,
  matmul_256_gflops: 3,
  matmul_512_gflops: 4,
  sft_steps_per_second: 5,
  rl_steps_per_second: 6,
  rollout_tokens_per_second: 7,
}
