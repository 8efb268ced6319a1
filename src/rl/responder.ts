// Prompts, responses and their scores: what a step of reinforcement learning begins with.
import type { Gpu } from '../kernels/gpu.ts'
import type { RolloutSize } from '../model/rollout.ts'
import type { Sample } from '../tasks/task.ts'
import { balanceBatch } from './balance.ts'
import { makeBatch, pickRows, promptBatch, type RolloutBatch, widenRows } from './batch.ts'
import { driverColumns } from './experience.ts'
import { rolloutSize, sizeKey } from './memory.ts'
import { overlongReward, tokenLevelScores } from './overlong.ts'
import type { RlPhase } from './phase.ts'
import type { Sampler } from './sampler.ts'
import type { StepSample, TrainerConfig } from './trainer.ts'

/** The counter-based generator's stream for training; validation has its own (validation.ts). */
const TRAIN_STREAM = 0

/** One batch of responses, judged. Rows stand in the order in which mini-batches are cut from them. */
export interface Drawn {
  readonly sampler: Sampler
  readonly samples: readonly Sample[]
  readonly batch: RolloutBatch
  readonly texts: readonly string[]
  /** What the task said of each row, [B]. */
  readonly scores: readonly number[]
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
}

/** Draws the prompts of a run one after the other, samples responses and has the task judge them. */
export class Responder {
  #gpu: Gpu
  #config: TrainerConfig
  #samplers: ReadonlyMap<string, Sampler>
  #columns: number
  /** Problems drawn so far. */
  sample_index = 0

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

  /** The next problems of the run. */
  takeSamples(count: number): Sample[] {
    const { seed, task } = this.#config
    const first = this.sample_index
    this.sample_index += count
    return Array.from({ length: count }, (_, i) => task.sample(seed, first + i, 'train'))
  }

  /** The next problems with their demonstrations for responses. */
  demonstrate(count: number): RolloutBatch {
    const { tokenizer } = this.#config
    const R = this.#columns
    const samples = this.takeSamples(count)
    const response_ids = new Uint32Array(count * R).fill(tokenizer.pad_token_id)
    samples.forEach(({ demonstration }, b) => {
      const ids = [...tokenizer.encode(demonstration), tokenizer.eos_token_id]
      response_ids.set(ids.slice(0, R), b * R)
    })
    return this.#makeBatch(samples, response_ids, R)
  }

  /** Samples n responses to each of the next prompts, reads them back and has them judged. */
  async draw(phase: RlPhase, step: number): Promise<Drawn> {
    const { rollout } = phase
    const started = performance.now()
    const R = rollout.max_response_length
    const prompts = this.takeSamples(rollout.train_batch_size)
    const drawn = prompts.flatMap((sample) => Array.from({ length: rollout.n }, () => sample))
    const sampler = this.sampler(rolloutSize(this.#config, phase))
    const baselines = await this.#baselines(phase, sampler, drawn, step)
    await this.#generate(sampler, phase, drawn, step)
    const needs_log_probs = driverColumns(phase).includes('rollout_log_probs')
    const { response_ids: ids, log_probs } = sampler.rollout.tensors
    const [all_ids, all_log_probs] = await (needs_log_probs
      ? this.#gpu.read(ids, log_probs)
      : this.#gpu.read(ids)) // readback 1
    const generated = performance.now()

    const order = this.#order(phase, drawn, all_ids)
    const samples = order.map((row) => drawn[row])
    const { batch, texts, scores } = this.#judge(samples, pickRows(all_ids, order, R), R)
    const token_level_scores = tokenLevelScores(
      penalised(phase, scores, batch),
      batch.response_lengths,
      batch.response_length,
    )
    return {
      sampler,
      ...{ samples, batch, texts, scores, token_level_scores, order },
      index: order.map((row) => Math.floor(row / rollout.n)),
      ...(baselines && { reward_baselines: order.map((row) => baselines[row]) }),
      ...(all_log_probs && {
        rollout_log_probs: this.#widen(pickRows(all_log_probs, order, R), R),
      }),
      timing: {
        gen: (generated - started) / 1000,
        reward: (performance.now() - generated) / 1000,
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
    change: { readonly temperature?: number } = {},
  ): Promise<void> {
    const { seed, task, tokenizer } = this.#config
    const sampling = { seed, stream: TRAIN_STREAM, step, row_offset: 0 }
    const distinct = samples.filter((_, b) => b % phase.rollout.n === 0)
    const prompts = promptBatch(distinct, task, tokenizer)
    await rollout.generate(prompts, { ...phase.rollout, ...change, ...sampling })
  }

  /** ReMax's baseline: the score of a greedy response to each row's prompt. */
  async #baselines(
    phase: RlPhase,
    sampler: Sampler,
    samples: readonly Sample[],
    step: number,
  ): Promise<readonly number[] | undefined> {
    if (phase.adv_estimator !== 'remax') return undefined
    await this.#generate(sampler, phase, samples, step, { temperature: 0 })
    const [ids] = await this.#gpu.read(sampler.rollout.tensors.response_ids)
    const { batch, scores } = this.#judge(samples, ids, phase.rollout.max_response_length)
    return penalised(phase, scores, batch)
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
    const { attention_mask, prompt_length, response_length } = this.#makeBatch(
      samples,
      response_ids,
      phase.rollout.max_response_length,
    )
    const T = prompt_length + response_length
    const seqlens = rows.map((b) =>
      attention_mask.subarray(b * T, (b + 1) * T).reduce((sum, m) => sum + m, 0),
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
  const { order, samples, texts, scores, batch } = drawn
  const reported: StepSample[] = []
  order.forEach((row, b) => {
    reported[row] = {
      prompt: samples[b].prompt,
      response: texts[b],
      ground_truth: samples[b].ground_truth,
      score: scores[b],
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
