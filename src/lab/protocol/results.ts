// What a run reports, as plain data. The names under which the page knows the engine's types.
import type { Profile, ProfileRow } from '../../kernels/device/timing/profiler.ts'
import type { MatmulChoice } from '../../kernels/matmul/matmul_variants.ts'
import type { Peak } from '../../kernels/peak/peak.ts'
import type { TokenTable, TracedSample } from '../../rl/look/token_table.ts'
import type { AskedPair } from '../../rl/reward/preferences.ts'
import type { ScoredPair } from '../../rl/reward/reward_training.ts'
import type { BenchmarkNumbers } from '../../rl/train/benchmark.ts'
import type { Generation } from '../../rl/train/step_result.ts'

export type {
  AskedPair,
  BenchmarkNumbers,
  Generation,
  MatmulChoice,
  Peak,
  Profile,
  ProfileRow,
  ScoredPair,
  TokenTable,
  TracedSample,
}

/** Scalars of one step by their metric name (verl's names). Only what was computed is in it. */
export type Metrics = Readonly<Record<string, number>>

/** One sampled response of a step. */
export interface RolloutSample {
  readonly prompt: string
  /** Without the end token. */
  readonly response: string
  readonly ground_truth: string
  /** What the task says. */
  readonly score: number
  /** What the reward model says, where that is trained on. */
  readonly rm_score?: number
  readonly advantage: number
  /** Tokens, end token included. */
  readonly response_length: number
  /** False when the response was cut at the maximum length. */
  readonly is_ended: boolean
}
