// Prompts, responses and their scores: what a step of reinforcement learning begins with.
import type { Gpu } from '../../kernels/device/gpu.ts'
import type { RolloutSize } from '../../model/rollout/rollout_inputs.ts'
import type { Sample } from '../../tasks/task.ts'
import {
  checkFilterGroups,
  chooseGroups,
  filterMetrics,
  informativeGroups,
  needsMore,
} from '../config/filter_groups.ts'
import { overlongReward, tokenLevelScores } from '../config/overlong.ts'
import type { RlPhase } from '../config/phase.ts'
import {
  joined,
  makeBatch,
  pickRows,
  promptBatch,
  type RolloutBatch,
  responseEnds,
  responseMask,
  widenRows,
} from '../experience/batch.ts'
import { driverColumns } from '../experience/experience.ts'
import { balanceBatch } from '../math/balance.ts'
import { sum } from '../math/stats.ts'
import { type Candidate, sequenceRow } from '../reward/pairs.ts'
import { pairSize, rolloutSize, sizeKey } from './memory.ts'
import type { Sampler } from './sampler.ts'
import type { StepSample, TrainerConfig } from './trainer.ts'
import { TrainingData } from './training_data.ts'

/** The counter-based generator's streams for training and for pairs; validation has its own (validation.ts). */
const TRAIN_STREAM = 0
const PAIR_STREAM = 2

/** Scores whole responses, one number each; [B]. */
export type RewardScorer = (batch: RolloutBatch) => Promise<ArrayLike<number>>

/** One batch of responses, judged. Rows stand in the order in which mini-batches are cut from them. */
export interface Drawn {
  /** The rollout that still holds this batch; none where the batch was chosen from several. */
  readonly sampler?: Sampler
  readonly samples: readonly Sample[]
  readonly batch: RolloutBatch
  readonly texts: readonly string[]
  /** What is trained on of each row: the task's score or the reward model's, [B]. */
  readonly scores: readonly number[]
  /** What the task said of each row, [B]. */
  readonly task_scores: readonly number[]
  /** With penalties, at the last token of each row; [B, R]. */
  readonly token_level_scores: Float64Array
  /** Prompt of each row, [B]. */
  readonly index: readonly number[]
  /** ReMax: score of one greedy response to each row's prompt, [B]. */
  readonly reward_baselines?: readonly number[]
  /** [B, R], where rollout correction needs them. */
  readonly rollout_log_probs?: Float32Array
  /** Rows as they were sampled: row b stood at order[b]. */
  readonly order: readonly number[]
  readonly timing: { readonly gen: number; readonly reward: number }
  /** What choosing from several batches found. */
  readonly metrics: Readonly<Record<string, number>>
}

/** Responses as they came from the rollout: n to each prompt, side by side. */
interface Responses {
  /** Of each row, [B]. */
  readonly samples: readonly Sample[]
  /** [B, R] */
  readonly response_ids: Uint32Array
  readonly log_probs?: Float32Array
  /** Where a batch is chosen from several. */
  readonly entropy?: Float32Array
  /** ReMax's, [B]. */
  readonly baselines?: readonly number[]
  readonly sampler?: Sampler
  readonly metrics?: Readonly<Record<string, number>>
}

/** Draws the prompts of a run one after the other, samples responses and has the task judge them. */
export class Responder {
  #gpu: Gpu
  #config: TrainerConfig
  #samplers: ReadonlyMap<string, Sampler>
  #columns: number
  /** The problems of the run. */
  readonly data: TrainingData

  /** `columns`: R of the actor's batches, the longest response of any phase. */
  constructor(
    gpu: Gpu,
    config: TrainerConfig,
    samplers: ReadonlyMap<string, Sampler>,
    columns: number,
  ) {
    this.#gpu = gpu
    this.#config = config
    this.#samplers = samplers
    this.#columns = columns
    this.data = new TrainingData(config.seed, config.task, config.data)
  }

  /** Goes on with other phases of the same task. */
  adopt(config: TrainerConfig): void {
    this.#config = config
  }

  /** The rollout of that size. */
  sampler(size: RolloutSize): Sampler {
    const sampler = this.#samplers.get(sizeKey(size))
    if (!sampler) throw new Error(`trainer: no rollout of ${sizeKey(size)}`)
    return sampler
  }

  /** The next problems with their demonstrations for responses. */
  demonstrate(count: number): RolloutBatch {
    const samples = this.data.takeBatch(count)
    return this.#withResponses(
      samples,
      samples.map(({ demonstration }) => demonstration),
    )
  }

  #withResponses(samples: readonly Sample[], texts: readonly string[]): RolloutBatch {
    const { tokenizer } = this.#config
    const R = this.#columns
    const response_ids = new Uint32Array(samples.length * R).fill(tokenizer.pad_token_id)
    texts.forEach((text, b) => {
      const ids = [...tokenizer.encode(text), tokenizer.eos_token_id]
      response_ids.set(ids.slice(0, R), b * R)
    })
    return this.#makeBatch(samples, response_ids, R)
  }

  /** The first held-out problems with their right answers for responses. Draws none of the run's own. */
  heldOut(count: number): RolloutBatch {
    const { seed, task } = this.#config
    const samples = Array.from({ length: count }, (_, i) => task.sample(seed, i, 'test'))
    return this.#withResponses(
      samples,
      samples.map(({ ground_truth }) => ground_truth),
    )
  }

  /** Prompts that pairs of responses are sampled to at a time. */
  get prompts_at_once(): number {
    return pairSize(this.#config).rows / 2
  }

  /** Two responses to each of `prompts_at_once` problems, judged; draws differ by (step, round). */
  async respondTwice(
    samples: readonly Sample[],
    temperature: number,
    step: number,
    round: number,
  ): Promise<[Candidate, Candidate][]> {
    const { seed, task, tokenizer } = this.#config
    const size = pairSize(this.#config)
    const { rollout } = this.sampler(size)
    const row_offset = round * size.rows
    const sampling = { seed, stream: PAIR_STREAM, step, row_offset, temperature }
    const prompts = promptBatch(samples, task, tokenizer)
    await rollout.generate(prompts, { ...sampling, top_k: -1, top_p: 1 })
    const [ids] = await this.#gpu.read(rollout.tensors.response_ids)
    const twice = samples.flatMap((sample) => [sample, sample])
    const { batch, texts, scores } = this.#judge(twice, ids, size.response_length)
    const candidates = texts.map((text, b) => ({
      row: sequenceRow(batch, b),
      text,
      is_ended: batch.is_ended[b],
      score: scores[b],
    }))
    return samples.map((_, i) => [candidates[2 * i], candidates[2 * i + 1]])
  }

  /** Samples n responses to each of the next prompts, reads them back and has them judged: by `reward` where it is given. */
  async draw(phase: RlPhase, step: number, reward?: RewardScorer): Promise<Drawn> {
    const { rollout } = phase
    const started = performance.now()
    const R = rollout.max_response_length
    const drawn = phase.algorithm.filter_groups.enable
      ? await this.#respondFiltered(phase, step, reward)
      : await this.#respond(phase, step, reward)
    const { response_ids, log_probs, baselines, sampler, metrics = {} } = drawn
    const generated = performance.now()

    const order = this.#order(phase, drawn.samples, response_ids)
    const samples = order.map((row) => drawn.samples[row])
    const judged = this.#judge(samples, pickRows(response_ids, order, R), R)
    const { batch, texts, scores: task_scores } = judged
    const scores = reward ? Array.from(await reward(batch)) : task_scores
    const token_level_scores = tokenLevelScores(
      reward ? scores : penalised(phase, scores, batch),
      batch.response_lengths,
      batch.response_length,
    )
    return {
      ...(sampler && { sampler }),
      ...{ samples, batch, texts, scores, task_scores, token_level_scores, order, metrics },
      index: order.map((row) => Math.floor(row / rollout.n)),
      ...(baselines && { reward_baselines: order.map((row) => baselines[row]) }),
      ...(log_probs && { rollout_log_probs: this.#widen(pickRows(log_probs, order, R), R) }),
      timing: {
        gen: (generated - started) / 1000,
        reward: (performance.now() - generated) / 1000,
      },
    }
  }

  /** One batch from the next prompts. `gen_batch` counts those of one step: each has random numbers of its own. */
  async #respond(
    phase: RlPhase,
    step: number,
    reward: RewardScorer | undefined,
    gen_batch = 0,
  ): Promise<Responses> {
    const { train_batch_size, n } = phase.rollout
    const prompts = this.data.takeBatch(train_batch_size)
    const samples = prompts.flatMap((sample) => Array.from({ length: n }, () => sample))
    const sampler = this.sampler(rolloutSize(this.#config, phase))
    const baselines = await this.#baselines(phase, sampler, samples, step, reward)
    await this.#generate(sampler, phase, samples, step, { row_offset: gen_batch * samples.length })
    const { response_ids: ids, log_probs, entropy } = sampler.rollout.tensors
    const needs_log_probs = driverColumns(phase).includes('rollout_log_probs')
    const extra = [
      ...(needs_log_probs ? [log_probs] : []),
      ...(phase.algorithm.filter_groups.enable ? [entropy] : []),
    ]
    const [response_ids, ...read] = await this.#gpu.read(ids, ...extra) // readback 1
    return {
      ...{ samples, response_ids, sampler },
      ...(baselines && { baselines }),
      ...(needs_log_probs && { log_probs: read[0] as Float32Array }),
      ...(phase.algorithm.filter_groups.enable && { entropy: read.at(-1) as Float32Array }),
    }
  }

  /** DAPO: batches are drawn until enough groups have any spread, or no more may be drawn; then a batch is made of them. */
  async #respondFiltered(
    phase: RlPhase,
    step: number,
    reward: RewardScorer | undefined,
  ): Promise<Responses> {
    const { rollout, algorithm } = phase
    const { train_batch_size, n, max_response_length: R } = rollout
    checkFilterGroups(algorithm.filter_groups, algorithm.use_kl_in_reward)
    const drawn: Responses[] = []
    const informative: boolean[][] = []
    do {
      const responses = await this.#respond(phase, step, reward, drawn.length)
      const { batch, scores } = this.#judge(responses.samples, responses.response_ids, R)
      const { metric } = algorithm.filter_groups
      // acc is the task's verdict; everything else is of what is trained on.
      const trained = reward && metric !== 'acc' ? Array.from(await reward(batch)) : scores
      const is_plain = reward !== undefined || metric === 'acc' || metric === 'score'
      const values = is_plain ? trained : penalised(phase, trained, batch)
      drawn.push(responses)
      informative.push(informativeGroups(values, n))
    } while (needsMore(informative, train_batch_size, algorithm.filter_groups))

    const rows = chooseGroups(informative, train_batch_size).flatMap(({ gen_batch, group }) =>
      Array.from({ length: n }, (_, i) => (gen_batch * train_batch_size + group) * n + i),
    )
    const pick = <T extends Uint32Array | Float32Array>(arrays: readonly T[]): T =>
      pickRows(joined(arrays), rows, R)
    const samples = drawn.flatMap((responses) => responses.samples)
    const baselines = drawn.flatMap((responses) => responses.baselines ?? [])
    const response_ids = pick(drawn.map((responses) => responses.response_ids))
    const log_probs = drawn.flatMap((responses) => responses.log_probs ?? [])
    const entropy = pick(drawn.flatMap((responses) => responses.entropy ?? []))
    const mask = responseMask(response_ids, R, this.#config.tokenizer.eos_token_id)
    return {
      samples: rows.map((row) => samples[row]),
      response_ids,
      ...(log_probs.length > 0 && { log_probs: pick(log_probs) }),
      ...(baselines.length > 0 && { baselines: rows.map((row) => baselines[row]) }),
      metrics: {
        ...filterMetrics(informative),
        'actor/entropy': sum(entropy.map((h, i) => (mask[i] ? h : 0))) / sum(mask),
      },
    }
  }

  /**
   * Encodes one response to each sample, of which each stands there n times; `change` makes it another draw, e.g. a greedy
   * one.
   */
  async #generate(
    { rollout }: Sampler,
    phase: RlPhase,
    samples: readonly Sample[],
    step: number,
    change: { readonly temperature?: number; readonly row_offset?: number } = {},
  ): Promise<void> {
    const { seed, task, tokenizer } = this.#config
    const sampling = { row_offset: 0, ...change, seed, stream: TRAIN_STREAM, step }
    const distinct = samples.filter((_, b) => b % phase.rollout.n === 0)
    const prompts = promptBatch(distinct, task, tokenizer)
    await rollout.generate(prompts, { ...phase.rollout, ...sampling })
  }

  /** ReMax's baseline: the score of a greedy response to each row's prompt. */
  async #baselines(
    phase: RlPhase,
    sampler: Sampler,
    samples: readonly Sample[],
    step: number,
    reward: RewardScorer | undefined,
  ): Promise<readonly number[] | undefined> {
    if (phase.adv_estimator !== 'remax') return undefined
    await this.#generate(sampler, phase, samples, step, { temperature: 0 })
    const [ids] = await this.#gpu.read(sampler.rollout.tensors.response_ids)
    const { batch, scores } = this.#judge(samples, ids, phase.rollout.max_response_length)
    return reward ? Array.from(await reward(batch)) : penalised(phase, scores, batch)
  }

  /** Responses [B, R] as a batch and as text, and what the task says of them: 0 for one that did not end. */
  #judge(samples: readonly Sample[], response_ids: Uint32Array, R: number) {
    const { task, tokenizer } = this.#config
    const batch = this.#makeBatch(samples, response_ids, R)
    const texts = samples.map((_, b) => tokenizer.decode(response_ids.subarray(b * R, (b + 1) * R)))
    const scores = samples.map(({ prompt }, b) =>
      batch.is_ended[b] ? task.score(prompt, texts[b]) : 0,
    )
    return { batch, texts, scores }
  }

  /** Rows in the order in which mini-batches are cut from them. */
  #order(phase: RlPhase, samples: readonly Sample[], response_ids: Uint32Array): number[] {
    const rows = samples.map((_, b) => b)
    if (!phase.algorithm.balance_batch) return rows
    const { task, tokenizer } = this.#config
    const { max_response_length: R } = phase.rollout
    const { attention_mask } = promptBatch(samples, task, tokenizer)
    const { response_lengths } = responseEnds(response_ids, R, tokenizer.eos_token_id)
    const P = task.max_prompt_length
    const seqlens = rows.map(
      (b) => response_lengths[b] + sum(attention_mask.subarray(b * P, (b + 1) * P)),
    )
    return balanceBatch(seqlens).flat()
  }

  /** [B, R] of a phase with shorter responses, in the actor's columns. */
  #widen(values: Float32Array, R: number): Float32Array {
    const width = this.#columns
    if (R === width) return values
    const wide = new Float32Array((values.length / R) * width)
    for (let b = 0; b < values.length / R; b++)
      wide.set(values.subarray(b * R, (b + 1) * R), b * width)
    return wide
  }

  /** Rows of ids, with responses widened to the actor's R where this phase's are shorter. */
  #makeBatch(samples: readonly Sample[], response_ids: Uint32Array, R: number): RolloutBatch {
    const { task, tokenizer } = this.#config
    const width = this.#columns
    const ids = widenRows(response_ids, R, width, tokenizer.pad_token_id)
    const size = {
      rows: samples.length,
      prompt_length: task.max_prompt_length,
      response_length: width,
    }
    return makeBatch(promptBatch(samples, task, tokenizer), ids, size, tokenizer.eos_token_id, R)
  }
}

/** The samples of a step as they are reported, in the order in which they were drawn; advantages [B]. */
export function reportSamples(drawn: Drawn, advantages: ArrayLike<number>): StepSample[] {
  const { order, samples, texts, scores, task_scores, batch } = drawn
  const reported: StepSample[] = []
  order.forEach((row, b) => {
    reported[row] = {
      prompt: samples[b].prompt,
      response: texts[b],
      ground_truth: samples[b].ground_truth,
      score: task_scores[b],
      ...(scores !== task_scores && { rm_score: scores[b] }),
      advantage: advantages[b],
      response_length: batch.response_lengths[b],
      is_ended: batch.is_ended[b],
    }
  })
  return reported
}

/** Scores with DAPO's penalty for responses that come close to the maximum length, where a phase has one. */
function penalised(
  { algorithm, rollout }: RlPhase,
  scores: readonly number[],
  { response_lengths }: RolloutBatch,
): readonly number[] {
  const { overlong_buffer } = algorithm
  if (!overlong_buffer) return scores
  const buffer = { ...overlong_buffer, max_resp_len: rollout.max_response_length }
  return scores.map((score, b) => score + overlongReward(response_lengths[b], buffer))
}
