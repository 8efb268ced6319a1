// Makes up checkpoints for tests: the state has the sizes of its experiment, and values that are
// all different.

import { parseExperiment } from '../../document/experiment/experiment.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import type { FlatLayout } from '../../model/layout/flat_params.ts'
import type { ResponsePair } from '../../rl/reward/pairs.ts'
import type { StaleBatch } from '../../rl/train/responses/stale_samples.ts'
import type { DifficultyState } from '../../rl/train/responses/training_data.ts'
import type { ModelState, TrainerState } from '../../rl/train/state.ts'
import { appendMetrics, type Series } from '../columns/series.ts'
import type { RunHistory } from '../protocol/checkpoint_facts.ts'
import type { Checkpoint } from './file/checkpoint.ts'
import { type LearnerLayout, runModels, trainedLayout } from './file/checkpoint_models.ts'

/** The smallest model that trains. */
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

/** TINY with other fields. Throws where it is no experiment. */
export function tinyExperiment(fields: object): Experiment {
  const parsed = parseExperiment({ ...TINY, ...fields })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return parsed.experiment
}

/** Warm start, a reward model taught by a person, PPO with a critic and a reference, and a steered
 * rest. */
export const EVERYTHING = tinyExperiment({
  phases: [
    { kind: 'sft', steps: 3, batch_size: 16 },
    {
      kind: 'reward_model',
      steps: 4,
      pairs: { source: 'human', count: 4, held_out: 2, min_pairs: 2 },
    },
    {
      kind: 'rl',
      steps: 9,
      adv_estimator: 'gae',
      algorithm: { use_kl_in_reward: true, kl_ctrl: { type: 'adaptive', kl_coef: 0.1 } },
      stop: { plateau_steps: 3 },
    },
  ],
  data: { train_max_samples: 40, admission: { min_rate: 0.1 } },
  steering: [
    { step: 2, kind: 'set', path: 'actor.optim.lr', value: 0.001 },
    { step: 3, kind: 'next_phase' },
  ],
})

let made = 0
/** Values that no other call gives. */
const floats = (count: number) =>
  Float32Array.from({ length: count }, (_, i) => Math.sin(++made + i) / 3)

function flat({ params, size }: FlatLayout): Float32Array {
  const values = new Float32Array(size)
  for (const { offset, size: count } of params) values.set(floats(count), offset)
  return values
}

function model(learner: LearnerLayout): ModelState {
  const trained = trainedLayout(learner)
  return {
    weights: flat(learner.weights),
    ...(learner.adapter && { adapter: flat(learner.adapter) }),
    adam_m: flat(trained),
    adam_v: flat(trained).map(Math.abs),
    corrections: floats(2 * trained.segment_ends.length).map(Math.abs),
    control: Float32Array.of(Number.NaN, 0, 0, 2, 7),
  }
}

function pair(i: number): ResponsePair {
  const candidate = (j: number) => ({
    row: {
      input_ids: Uint32Array.of(1, i, j),
      attention_mask: Uint32Array.of(0, 1, 1),
      position_ids: Uint32Array.of(0, 0, 1),
    },
    text: `answer “${i}.${j}”\n`,
    is_ended: j === 0,
    score: i / 7 + j,
    // Of some pairs a reward model is the judge.
    ...(i === 1 && { reward: 1 / 3 - j }),
  })
  return { prompt: `${i}=`, a: candidate(0), b: candidate(1) }
}

/** The problems of a set, one of them not measured yet. */
function measuredOf({ data }: Experiment): Pick<DifficultyState, 'measured'> {
  const { train_max_samples: size } = data
  if (size === null) return {}
  const rates = Float64Array.from({ length: size }, (_, i) => (i === 0 ? Number.NaN : 1 / i))
  return { measured: { rates, epochs: new Float64Array(size).fill(2) } }
}

/** Two responses of two tokens to each of two prompts. */
const waiting = (step: number): StaleBatch => ({
  due: step + 1,
  sampled_at: step,
  places: [7, 9],
  response_ids: Uint32Array.of(1, 2, 3, 1, 2, 3, 1, 2),
  log_probs: floats(8),
  entropy: floats(8),
  baselines: [0.5, 0, 1, 1],
  metrics: { 'train/num_gen_batches': 2 },
})

/** A state of this experiment after `step` steps, the last of them in phase `phase`. */
export function madeState(experiment: Experiment, step: number, phase: number): TrainerState {
  const { learners, hasReference, teacher } = runModels(experiment)
  const of = (name: 'actor' | 'critic' | 'reward_model') => {
    const layout = learners.get(name)
    return layout && model(layout)
  }
  const [actor, critic, reward_model] = [of('actor'), of('critic'), of('reward_model')]
  const layout = learners.get('actor')
  if (!actor || !layout) throw new Error('no policy')
  const asking = experiment.phases.findIndex(({ kind }) => kind === 'reward_model')
  const hasPairs = asking >= 0 && asking <= phase
  const phases = experiment.phases.slice(0, phase)
  const phase_step =
    step -
    Math.min(
      step,
      phases.reduce((sum, { steps }) => sum + steps, 0),
    )
  return {
    phase,
    step,
    phase_step,
    stage_step: phase_step,
    critic_step: 0,
    is_started: true,
    ends: null,
    began: null,
    skipped_updates: Math.min(step, 1),
    sample_index: 33 * step,
    scores: step > 1 ? [1 / 3, -0] : [],
    entropy:
      experiment.phases[phase].kind === 'rl' ? { entropy_coef: 0.1 + 0.2, entropy: 1 / 3 } : null,
    kl_coef: experiment.phases[phase].kind === 'rl' ? 0.1 + 0.2 : null,
    pairs_of: hasPairs ? asking : null,
    actor,
    ...(hasReference && { reference: flat(layout.weights) }),
    ...(teacher && { teacher: flat(teacher) }),
    ...(critic && { critic }),
    ...(step > 0 && { stale: [waiting(step)] }),
    difficulty: { level_starts: step > 0 ? [8, 8 * step] : [], ...measuredOf(experiment) },
    ...(hasPairs && {
      preferences: {
        judged: [],
        asked: [pair(0), pair(1), pair(2)],
        ties: 1,
        held_out: ['a prompt'],
        decided: ['a', 'skip'],
        log: [
          { choice: 'b', step: 0 },
          { choice: 'undo', step: 0 },
          { choice: 'a', step: 0 },
          { choice: 'skip', step: 1 },
        ],
        replayed: 0,
        queue: [0],
        passes: 2,
      },
    }),
    ...(reward_model && { reward_model }),
  }
}

/** What might be known after `step` steps, among it numbers that JSON has not. */
export function madeHistory(step: number): RunHistory {
  const series = new Map<string, Series>()
  for (let i = 0; i <= step; i++)
    appendMetrics(series, i, {
      'training/global_step': i,
      'actor/entropy': 1 / (i + 3),
      ...(i % 2 === 0 && {
        'val-aux/x/acc/greedy': [Number.NaN, Number.POSITIVE_INFINITY, -0][i % 3],
      }),
    })
  return {
    series,
    phase_switches: [{ step: 0, phase: 0, reason: 'start' }],
    steered: [
      { entry: { step: 0, kind: 'remove_phase', index: 0 }, refused: 'expected another phase' },
    ],
    verdicts: {},
  }
}

/** A checkpoint after `step` steps. */
export function madeCheckpoint(experiment = EVERYTHING, step = 6, phase = 1): Checkpoint {
  const own = phase < experiment.phases.length ? phase : 0
  return {
    record: 'made-up_1',
    parent: { record: 'another', step: Math.min(step, 4) },
    run: {
      trainer: madeState(experiment, step, own),
      experiment: { ...experiment, steering: [] },
      document: experiment,
      done: experiment.steering.filter((entry) => entry.step <= step).length,
    },
    history: madeHistory(step),
    made_on: { understory: '0.1.0', adapter: 'llvmpipe “x”', kernels: '' },
  }
}
