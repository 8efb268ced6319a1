// Declares what a run reports, as plain data, under the page's names for the engine's types.
import type { Profile, ProfileRow } from '../../kernels/device/timing/profiler.ts'
import type { MatmulChoice } from '../../kernels/matmul/matmul_variants.ts'
import type { Peak } from '../../kernels/peak/peak.ts'
import type { AdapterSpeed } from '../../kernels/peak/speed.ts'
import type { TokenTable, TracedSample } from '../../rl/look/token_table.ts'
import type { AskedPair } from '../../rl/reward/preferences.ts'
import type { ScoredPair } from '../../rl/reward/scored_pairs.ts'
import type { BenchmarkNumbers } from '../../rl/train/benchmark.ts'
import type { Generation, StepSample } from '../../rl/train/parts/step_result.ts'

export type {
  AdapterSpeed,
  AskedPair,
  BenchmarkNumbers,
  Generation,
  MatmulChoice,
  Peak,
  Profile,
  ProfileRow,
  ScoredPair,
  StepSample as RolloutSample,
  TokenTable,
  TracedSample,
}

/** Scalars of one step by their metric name (verl's names). Only what was computed is in it. */
export type Metrics = Readonly<Record<string, number>>
