// Follows the real trainer in float64: every number that it reports is that of the same steps,
// computed from the responses that it sampled.
import { expect, vi } from 'vitest'
import type { Tensor } from '../../../kernels/device/base/tensor.ts'
import { Gpu } from '../../../kernels/device/gpu.ts'
import { randomValues } from '../../../kernels/testing.ts'
import { steeringLayout } from '../../../model/layout/adapter_layout.ts'
import { modelShape, type SteeringConfig } from '../../../model/layout/config.ts'
import {
  initialWeights,
  paramLayout,
  sharedRuns,
  unpackWeights,
} from '../../../model/layout/params.ts'
import { arithmetic } from '../../../tasks/tokenizers/arithmetic.ts'
import type { Actor as ActorSettings } from '../../config/actor.ts'
import { type Algorithm, asksTeacher } from '../../config/algorithm.ts'
import type { RlPhase } from '../../config/phase.ts'
import type { RolloutCorrection } from '../../config/rollout_correction.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import { makeBatch, padPrompts } from '../../experience/batch.ts'
import { refTranslators } from '../../learners/inner.ref.ts'
import { balanceBatch } from '../../math/balance.ts'
import { rowOrder } from '../../math/shuffle.ts'
import { CONFIG, RL, SFT } from '../../testing.ts'
import { LARGER, larger } from '../distilled/testing.ts'
import { Learner } from '../learner.ref.ts'
import type { StepResult } from '../parts/step_result.ts'
import { dealtScores } from '../stages/dealt_scores.ts'
import { type RecordedStep, type RefRun, stepRef } from '../step.ref.ts'
import { Trainer } from '../trainer.ts'
import { TOOLS, talks, turnMetrics, turnsRef } from './turns.ref.ts'

const gpu = await Gpu.open()
const { max_prompt_length: P } = CONFIG.task
/** Columns of a response. */
export const R = CONFIG.task.max_response_length
/** Rows of a batch. */
export const B = 16
const ROLLOUT_LOG_PROBS = 'rollout.log_probs'

/** One step at a rate at which ratios leave the clip range within it; two mini-batches. */
export const BASE: RlPhase = {
  ...RL,
  steps: 1,
  actor: { ...RL.actor, optim: { ...RL.actor.optim, lr: 0.01, weight_decay: 0.01 } },
  critic: { ...RL.critic, cliprange_value: 0.05, optim: { ...RL.critic.optim, lr: 0.005 } },
}
export const phaseOf = (
  change: Partial<RlPhase> = {},
  actor: Partial<ActorSettings> = {},
  algorithm: Partial<Algorithm> = {},
): RlPhase => ({
  ...BASE,
  ...change,
  actor: { ...BASE.actor, ...actor },
  algorithm: { ...BASE.algorithm, ...algorithm },
})
export const corrected = (change: Partial<RolloutCorrection>): Partial<Algorithm> => ({
  rollout_correction: { ...BASE.algorithm.rollout_correction, ...change },
})

const only = (...phases: TrainerConfig['phases']): TrainerConfig => ({
  ...CONFIG,
  phases,
  probe: { freq: null, rows: 8 },
})

/** Weights whose responses are right now and then, and of different lengths. */
const start = await Trainer.create(
  gpu,
  only({ ...SFT, steps: 18, optim: { ...SFT.optim, lr: 0.015 } }),
)
while (!start.isFinished) await start.next()
const WARM = await start.exportWeights()

/** A critic as it begins: the policy's transformer under its first score. */
function firstCritic(): Learner {
  const layout = paramLayout(modelShape(CONFIG.model), 'value_head')
  const critic = new Learner(CONFIG.model, 'value_head', initialWeights(layout, CONFIG.seed))
  const from = paramLayout(modelShape(CONFIG.model))
  for (const { fromOffset, toOffset, count } of sharedRuns(from, layout))
    critic.state.weights.set(WARM.subarray(fromOffset, fromOffset + count), toOffset)
  return critic
}

const ended = (ids: Uint32Array) => ids.includes(arithmetic.eos_token_id)
const scoreOf = (prompt: string, ids: Uint32Array) =>
  ended(ids) ? CONFIG.task.score(prompt, arithmetic.decode(ids)) : 0
/** DAPO's soft penalty. */
const penalty = (length: number, { algorithm, rollout }: RlPhase) => {
  const { len, penalty_factor } = algorithm.overlong_buffer
  if (len === null) return 0
  const room = rollout.max_response_length - len - length
  return Math.min(0, (room / len) * penalty_factor)
}

/** The responses that were shown last, [B][R]; conversations are shown without their padding. */
const lastRows = (shown: readonly Uint32Array[], R: number): Uint32Array[] =>
  shown.slice(-B).map((ids) => {
    const row = new Uint32Array(R).fill(arithmetic.pad_token_id)
    row.set(ids)
    return row
  })

/** The step's batch as it was trained on, from what was reported and what the tokenizer was shown
 * meanwhile. */
function recorded(
  phase: RlPhase,
  { samples, step }: StepResult,
  shown: readonly Uint32Array[],
  sampled: Float32Array | undefined,
): RecordedStep {
  const { n, max_response_length: R } = phase.rollout
  const lengths = samples.map((s) => s.response_length + arithmetic.encode(s.prompt).length)
  const order = phase.algorithm.balance_batch
    ? balanceBatch(lengths).flat()
    : samples.map((_, b) => b)
  const prompts = order.map((row) => samples[row].prompt)
  const ids = lastRows(shown, R)
  const batch = makeBatch(
    padPrompts(
      prompts.map((prompt) => arithmetic.encode(prompt)),
      P,
      arithmetic.pad_token_id,
    ),
    Uint32Array.from(ids.flatMap((row) => [...row])),
    { rows: B, prompt_length: P, response_length: R },
    arithmetic.eos_token_id,
    { max_response_length: R, turns: talks(phase) ? turnsRef(ids, phase) : undefined },
  )
  const total = (prompt: string, row: Uint32Array) => {
    const length = ended(row) ? row.indexOf(arithmetic.eos_token_id) + 1 : R
    return scoreOf(prompt, row) + penalty(length, phase)
  }
  const token_level_scores = new Float64Array(B * R)
  ids.forEach((row, b) => {
    const length = batch.response_lengths[b]
    // What is scored of a conversation is tested where its text is cut.
    const score = talks(phase)
      ? samples[order[b]].score + penalty(length, phase)
      : total(prompts[b], row)
    token_level_scores[b * R + length - 1] = score
  })
  // ReMax's greedy responses were shown first, in the order of drawing.
  const greedy = samples.map(({ prompt }, b) => total(prompt, shown[b]))
  const logProbs =
    sampled &&
    Float64Array.from({ length: B * R }, (_, i) => {
      const row = order[Math.floor(i / R)]
      return sampled[row * R + (i % R)]
    })
  const index = order.map((row) => Math.floor(row / n))
  const scored = { batch, token_level_scores, index }
  return {
    batch,
    token_level_scores: phase.algorithm.shuffle_scores
      ? dealtScores(scored, CONFIG.seed, step)
      : token_level_scores,
    step,
    ...staleRows(phase, step),
    ...(phase.actor.shuffle && { order: rowOrder(CONFIG.seed, step, B) }),
    index,
    ...(phase.adv_estimator === 'remax' && {
      reward_baselines: order.map((row) => greedy[row]),
    }),
    ...(logProbs && { rollout_log_probs: logProbs }),
  }
}

/** The step before which each row of step `step` of the first phase was sampled. */
function staleRows({ rollout }: RlPhase, step: number): Pick<RecordedStep, 'sampled_at'> {
  const { staleness = 0, stale_fraction = 1, n, train_batch_size } = rollout
  if (staleness === 0) return {}
  const stale = Math.round(stale_fraction * train_batch_size) * n
  const early = Math.max(1, step - staleness)
  return { sampled_at: Array.from({ length: B }, (_, b) => (b < stale ? early : step)) }
}

/** Of the policies that sampled. */
function staleMetrics(phase: RlPhase, step: number): Record<string, number> {
  const { sampled_at } = staleRows(phase, step)
  return sampled_at ? { 'rollout/staleness': mean(sampled_at.map((at) => step - at)) } : {}
}

/** Dynamic sampling: every batch was shown as it was drawn, then the one that was made of them. */
function drawMetrics({ algorithm, rollout }: RlPhase, shown: readonly Uint32Array[]) {
  if (!algorithm.filter_groups.enable) return {}
  const drawn = shown.slice(0, -B).map((ids) => scoreOf('', ids))
  const groups = Array.from({ length: drawn.length / rollout.n }, (_, g) =>
    drawn.slice(g * rollout.n, (g + 1) * rollout.n),
  )
  return {
    'train/num_gen_batches': drawn.length / B,
    'group/informative_drawn': mean(groups.map((group) => (new Set(group).size > 1 ? 1 : 0))),
  }
}

/** What other tests check (times, work, layers), or belongs to the whole run. */
const ELSEWHERE = /^(timing_|perf\/|layer\/|lens\/|training\/(global_step|skipped_updates_total)$)/
const mean = (x: readonly number[]) => x.reduce((a, b) => a + b, 0) / x.length

/** Numbers of the samples themselves. */
function sampleMetrics(phase: RlPhase, { samples }: StepResult): Record<string, number> {
  const { n } = phase.rollout
  const groups = Array.from({ length: B / n }, (_, g) => samples.slice(g * n, (g + 1) * n))
  const total = (s: StepResult['samples'][number]) => s.score + penalty(s.response_length, phase)
  return {
    'task/score/mean': mean(samples.map((s) => s.score)),
    'group/informative': mean(
      groups.map((group) => (group.some((s) => total(s) !== total(group[0])) ? 1 : 0)),
    ),
    'response/not_ended_ratio': mean(samples.map((s) => (s.is_ended ? 0 : 1))),
  }
}

interface Followed {
  readonly seen: Record<string, number>[]
  readonly truth: Record<string, number>[]
}

/** The phase with the rates of step `step` (from 1) of `total`, where it warms up over a share of
 * them. */
function warmed(phase: RlPhase, step: number, total: number): RlPhase {
  const rate = <P extends { readonly optim: RlPhase['actor']['optim'] }>(of: P): P => {
    const { lr, lr_warmup_steps, lr_warmup_steps_ratio = 0 } = of.optim
    if (lr_warmup_steps !== null) return of
    const share = Math.min(1, (step - 1) / Math.trunc(lr_warmup_steps_ratio * total))
    return { ...of, optim: { ...of.optim, lr: lr * share } }
  }
  return { ...phase, actor: rate(phase.actor), critic: rate(phase.critic) }
}

/** The policy as it begins: its weights, or vectors on them. */
function firstActor(vectors: SteeringConfig | undefined) {
  const config = { ...CONFIG.model, ...(vectors && { steering_vectors: vectors }) }
  if (!vectors) return { config, flat: WARM, actor: new Learner(config, 'lm_head', WARM) }
  const shape = modelShape(config)
  const flat = new Float32Array(steeringLayout(shape, vectors).size)
  const base = Object.fromEntries(
    Object.entries(unpackWeights(paramLayout(shape), WARM)).map(([name, weights]) => [
      name,
      Float64Array.from(weights),
    ]),
  )
  return { config, flat, actor: new Learner(config, 'lm_head', flat, base) }
}

/** The models as they begin. */
const refRun = (
  first: RlPhase,
  isTaught: boolean,
  { config, flat, actor }: ReturnType<typeof firstActor>,
): RefRun => ({
  config,
  actor,
  ...(first.adv_estimator === 'gae' && { critic: firstCritic() }),
  ...(isTaught && { teacher: { config: LARGER, model: new Learner(LARGER, 'lm_head', larger) } }),
  reference: Float64Array.from(flat),
  kl_coef: first.algorithm.kl_ctrl.kl_coef,
  entropy_coef: first.actor.entropy_coeff,
  entropy: Number.POSITIVE_INFINITY,
  criticSteps: 0,
  innerOld: [],
  passes: 0,
  before: [],
})

/** Trains and computes the same in float64; compares every metric of every step and, at the end,
 * every weight. */
export const follow = (phase: RlPhase, noise = 0): Promise<Followed> => followAll([phase], noise)

/** The same for several phases in order; with vectors those are what is trained. */
export async function followAll(
  phases: readonly RlPhase[],
  noise = 0,
  vectors?: SteeringConfig,
): Promise<Followed> {
  const first = firstActor(vectors)
  const isTaught = phases.some(asksTeacher)
  const shown: Uint32Array[] = []
  const decode = (ids: ArrayLike<number>) => {
    shown.push(Uint32Array.from(ids))
    return arithmetic.decode(ids)
  }
  const trainer = await Trainer.create(gpu, {
    ...only(...phases),
    model: first.config,
    ...(phases.some(talks) && { tools: TOOLS }),
    ...(isTaught && { teacher: LARGER }),
    task: { ...CONFIG.task, tokenizer: { ...arithmetic, decode } },
  })
  trainer.importWeights(WARM)
  if (isTaught) trainer.importTeacher(larger)
  await trainer.next()
  const run = refRun(phases[0], isTaught, first)
  const rolloutLogProbs = noise === 0 ? () => undefined : otherPolicy(noise)
  const followed: Followed = { seen: [], truth: [] }
  const phaseOfStep = phases.flatMap((phase) => Array<RlPhase>(phase.steps).fill(phase))
  const total = phaseOfStep.length
  for (const [i, phase] of phaseOfStep.entries()) {
    const step = i + 1
    shown.length = 0
    const result = await trainer.next()
    // What the phase reads through stays as its first step fitted it.
    const { lens } = await trainer.exportState()
    const translators = refTranslators(CONFIG.model.hidden_size, lens)
    const truth = {
      ...stepRef(
        run,
        { ...warmed(phase, step, total), translators },
        recorded(phase, result, shown, rolloutLogProbs()),
      ),
      ...sampleMetrics(phase, result),
      ...(talks(phase) &&
        turnMetrics(turnsRef(lastRows(shown, phase.rollout.max_response_length), phase))),
      ...drawMetrics(phase, shown),
      ...staleMetrics(phase, step),
    }
    const seen = Object.fromEntries(
      Object.entries(result.metrics).filter(([name]) => !ELSEWHERE.test(name)),
    )
    expect(Object.keys(seen).sort()).toEqual(Object.keys(truth).sort())
    for (const [name, x] of Object.entries(truth)) {
      // f32 through four updates of a size that does not shrink with the gradient; a norm is a sum
      // of 10,000 squares.
      const bound = 3e-5 + (name.endsWith('grad_norm') ? 2e-3 : 2e-4) * Math.abs(x)
      expect(Math.abs(seen[name] - x), `step ${step} ${name}: ${seen[name]}, ${x}`).toBeLessThan(
        bound,
      )
    }
    followed.seen.push(seen)
    followed.truth.push(truth)
  }
  const trained = (await trainer.exportState()).actor
  const weights = trained.adapter ?? trained.weights
  if (vectors) expect(trained.weights).toEqual(WARM)
  const { state } = run.actor
  const moved = Math.hypot(...state.weights.map((w, i) => w - first.flat[i]))
  const errors = Array.from(state.weights, (w, i) => Math.abs(w - weights[i])).sort((x, y) => y - x)
  expect(moved).toBeGreaterThan(0.05)
  // Adam moves a weight however small its gradient is, so where gradients nearly cancel their
  // rounding shows: in 30 weights of one case by
  // 2.5e-3 of the whole, on some kernels for products; the others are within 2.7e-6 there.
  expect(Math.hypot(...errors) / moved).toBeLessThan(1e-2)
  expect(Math.hypot(...errors.slice(errors.length / 100)) / moved).toBeLessThan(3e-4)
  return followed
}

/** Makes the responses those of another policy: the log-probs that the trainer reads back of the
 * rollout are others than the rollout's, by up to `noise`. Returns them as they were read last. The
 * test must restore all mocks. */
function otherPolicy(noise: number): () => Float32Array | undefined {
  const real = gpu.read.bind(gpu)
  let last: Float32Array | undefined
  const read = async (...tensors: readonly Tensor[]) => {
    const arrays: ArrayLike<number>[] = await real(...tensors)
    return arrays.map((values, place) => {
      if (tensors[place].label !== ROLLOUT_LOG_PROBS) return values
      const moves = randomValues(values.length, 5)
      last = Float32Array.from(values, (x, i) => x + noise * moves[i])
      return last
    })
  }
  vi.spyOn(gpu, 'read').mockImplementation(read as typeof gpu.read)
  return () => last
}

export const changes = ({ truth }: Followed, name: string) => truth.map((metrics) => metrics[name])
