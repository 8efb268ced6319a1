// Counts what a step asks of the GPU: which parts of an algorithm cost a readback, and that a part
// that is off costs nothing.
import { expect, test } from 'vitest'
import { Gpu } from '../../kernels/device/gpu.ts'
import { decodedColumns, TURN_CHUNK } from '../../model/rollout/rollout_inputs.ts'
import { createTools } from '../../tasks/tools/index.ts'
import type { Actor } from '../config/actor.ts'
import type { Algorithm } from '../config/algorithm.ts'
import type { RlPhase } from '../config/phase.ts'
import type { RolloutCorrection } from '../config/rollout_correction.ts'
import type { TrainerConfig } from '../config/trainer_config.ts'
import { CONFIG, REWARD_MODEL, RL } from '../testing.ts'
import { Trainer } from './trainer.ts'

const gpu = await Gpu.open()
const PLAIN: RlPhase = { ...RL, steps: 1 }

interface Work {
  readonly reads: number
  readonly submits: number
  readonly dispatches: number
}

/** What each step of reinforcement asked for. */
async function workOf(config: TrainerConfig): Promise<Work[]> {
  const trainer = await Trainer.create(gpu, config)
  const work: Work[] = []
  while (!trainer.isFinished) {
    // Pairs of a reward model are drawn when its phase begins.
    if (trainer.step > 0) await trainer.ready()
    const { reads, submits, dispatches } = gpu.counts
    const { metrics } = await trainer.next()
    if ('critic/score/mean' in metrics)
      work.push({
        reads: gpu.counts.reads - reads,
        submits: gpu.counts.submits - submits,
        dispatches: gpu.counts.dispatches - dispatches,
      })
  }
  return work
}

const actor = (change: Partial<Actor>): Partial<RlPhase> => ({ actor: { ...RL.actor, ...change } })
const algorithm = (change: Partial<Algorithm>): Partial<RlPhase> => ({
  algorithm: { ...RL.algorithm, ...change },
})
const correction = (change: Partial<RolloutCorrection>) =>
  algorithm({ rollout_correction: { ...RL.algorithm.rollout_correction, ...change } })

/** Readbacks of a step beside those of its responses and of its numbers. */
const PARTS: readonly (readonly [name: string, change: Partial<RlPhase>, extraReads: number])[] = [
  ['an inner layer', { target_layer: 2 }, 0],
  ['an inner layer through the norm', { target_layer: 2, target_readout: 'normed' }, 0],
  ['frozen parts', { freeze: { embed_tokens: true, layers: [1] } }, 0],
  ['another rate above a layer', { lr_factor_above: { layer: 1, factor: 0.1 } }, 0],
  ['two epochs', actor({ ppo_epochs: 2 }), 0],
  ['shuffled rows', actor({ shuffle: true, ppo_epochs: 2 }), 0],
  ['micro-batches', actor({ ppo_micro_batch_size_per_gpu: 4 }), 0],
  ['KL in the loss', actor({ use_kl_loss: true }), 0],
  ['an entropy bonus', actor({ entropy_coeff: 0.01 }), 0],
  ['clip_cov', actor({ loss_mode: 'clip_cov' }), 0],
  ['a penalty for length', algorithm({ overlong_buffer: { len: 2, penalty_factor: 1 } }), 0],
  ['even lengths', algorithm({ balance_batch: true }), 0],
  ['bypass mode', correction({ bypass_mode: true, loss_type: 'reinforce' }), 0],
  // Advantages, which are made on the CPU, wait for these.
  ['KL in the reward', algorithm({ use_kl_in_reward: true }), 1],
  ['a critic', { adv_estimator: 'gae' }, 1],
  ['a token baseline', { adv_estimator: 'optimal_token_baseline' }, 1],
  ['weights of rollout correction', correction({ rollout_is: 'token' }), 1],
  ['log-probs compared', { rollout: { ...RL.rollout, calculate_log_probs: true } }, 1],
  ['rejection', correction({ rollout_rs: 'token_k2', rollout_rs_threshold: '0.1' }), 1],
  // They share one.
  [
    'a critic, a KL in the reward and weights',
    {
      adv_estimator: 'gae',
      ...algorithm({
        use_kl_in_reward: true,
        rollout_correction: { ...RL.algorithm.rollout_correction, rollout_is: 'token' },
      }),
    },
    1,
  ],
  ['greedy responses', { adv_estimator: 'remax' }, 1],
  ['a reward model', { reward_model: { enable: true } }, 1],
  [
    'one more batch drawn',
    algorithm({ filter_groups: { enable: true, metric: 'acc', max_num_gen_batches: 2 } }),
    1,
  ],
]

/** A judge who finds all responses alike: no group differs. */
const FLAT = { ...CONFIG.task, score: () => 0 }
const [plain] = await workOf({ ...CONFIG, phases: [PLAIN] })

test('a plain step reads back twice in three submits', () => {
  expect(plain).toMatchObject({ reads: 2, submits: 3 })
})

test.for(PARTS)('%s: what it reads back, and nothing once it is off', async ([, change, extra]) => {
  const part: RlPhase = { ...PLAIN, ...change }
  const before = part.reward_model.enable ? [{ ...REWARD_MODEL, steps: 1 }] : []
  const config: TrainerConfig = {
    ...CONFIG,
    // Without a group that differs, dynamic sampling draws all the batches it may.
    ...(part.algorithm.filter_groups.enable && { task: FLAT }),
  }
  const [on, off] = await workOf({ ...config, phases: [...before, part, PLAIN] })
  expect(on.reads).toBe(2 + extra)
  expect(off).toEqual(plain)
})

test('a conversation reads back once for every 8 columns at most, and tools without turns cost nothing', async () => {
  const tools = createTools([{ id: 'calculator' }], { timeout_ms: 1000, batch_timeout_ms: 1000 })
  const talks: RlPhase = { ...PLAIN, rollout: { ...RL.rollout, max_turns: 3 } }
  const [on, off] = await workOf({ ...CONFIG, tools, phases: [talks, PLAIN] })
  const columns = decodedColumns({ rows: 16, prompt_length: 3, response_length: 3, max_turns: 3 })
  expect(on.reads).toBeGreaterThanOrEqual(2)
  expect(on.reads).toBeLessThanOrEqual(1 + Math.ceil(columns / TURN_CHUNK))
  expect(off).toEqual(plain)
})
