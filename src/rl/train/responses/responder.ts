// Draws the prompts of a run, the policy's responses to them, and their scores.
import type { Gpu } from '../../../kernels/device/gpu.ts'
import type { RolloutSize } from '../../../model/rollout/rollout_inputs.ts'
import type { Sample } from '../../../tasks/task/task.ts'
import { tokenLevelScores } from '../../config/overlong.ts'
import type { Pairs, RlPhase } from '../../config/phase.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import { pickRows, promptBatch, type RolloutBatch, responseEnds } from '../../experience/batch.ts'
import type { DrawnBatch } from '../../experience/drawn_batch.ts'
import { pickTurns } from '../../experience/turns.ts'
import { balanceBatch } from '../../math/balance.ts'
import { sum } from '../../math/stats.ts'
import type { JudgedAnswer, JudgedAnswers } from '../../reward/judged_answers.ts'
import { type Candidate, type ResponsePair, sequenceRow } from '../../reward/pairs.ts'
import { writtenPairs } from '../../reward/phase_pairs.ts'
import { pairSize } from '../parts/memory.ts'
import type { Sampler } from '../parts/sampler.ts'
import { turnFormat } from '../parts/turns.ts'
import { Judge, penalised } from './judge.ts'
import {
  isStale,
  type RewardScorer,
  type Sampled,
  type SamplingParts,
  type SamplingRequest,
  samplerOf,
} from './sampled.ts'
import { type StaleBatch, sampleNow, sampleStale } from './stale_samples.ts'
import { TrainingData } from './training_data.ts'

/** The counter-based generator's stream for pairs. */
const PAIR_STREAM = 2

/** The responses of a step with their scores. */
export interface Drawn extends DrawnBatch {
  /** The rollout that still holds this batch; none where the batch was chosen from several. */
  readonly sampler?: Sampler
}

const judgeOf = (config: TrainerConfig, columns: number): Judge =>
  new Judge(config, columns, turnFormat(config))

/** Draws the prompts of a run in order, samples responses and has them scored. */
export class Responder {
  #parts: SamplingParts
  #columns: number
  /** Samples that wait for the steps that train on them. */
  stale: readonly StaleBatch[] = []

  /** `columns`: R of the actor's batches, the longest response of any phase. */
  constructor(
    gpu: Gpu,
    config: TrainerConfig,
    samplers: ReadonlyMap<string, Sampler>,
    columns: number,
  ) {
    const { seed, task, data: choice, levels } = config
    const data = new TrainingData(seed, task, choice, levels)
    this.#parts = { gpu, config, samplers, data, judge: judgeOf(config, columns) }
    this.#columns = columns
  }

  /** Continues with other phases of the same task. */
  adopt(config: TrainerConfig): void {
    this.#parts = { ...this.#parts, config, judge: judgeOf(config, this.#columns) }
  }

  /** The problems of the run. */
  get data(): TrainingData {
    return this.#parts.data
  }

  /** The rollout of that size. */
  sampler(size: RolloutSize): Sampler {
    return samplerOf(this.#parts.samplers, size)
  }

  /** The next problems with their demonstrations for responses. */
  demonstrate(count: number): RolloutBatch {
    const samples = this.data.takeBatch(count)
    const texts = samples.map(({ demonstration }) => demonstration)
    return this.#parts.judge.batchOf(samples, texts)
  }

  /** The first held-out problems with their right answers for responses. Draws none of the run's
   * own. */
  heldOut(count: number): RolloutBatch {
    const { seed, task } = this.#parts.config
    const samples = Array.from({ length: count }, (_, i) => task.sample(seed, i, 'test'))
    const texts = samples.map(({ ground_truth }) => ground_truth)
    return this.#parts.judge.batchOf(samples, texts)
  }

  /** Prompts that the responses of pairs are sampled to at a time. */
  promptsAtOnce(pairs: Pairs): number {
    const { rows, n } = pairSize(this.#parts.config, pairs)
    return rows / n
  }

  /** The responses of pairs to each of `promptsAtOnce` problems, judged by the task and, where
   * `reward` is given, by the reward model; draws differ by (step, round). */
  async respondForPairs(
    samples: readonly Sample[],
    pairs: Pairs,
    { step, round, reward }: { step: number; round: number; reward?: RewardScorer | undefined },
  ): Promise<Candidate[][]> {
    const { gpu, config, judge } = this.#parts
    const { seed, task } = config
    const { temperature } = pairs
    const size = pairSize(config, pairs)
    gpu.stage('gen')
    const { rollout } = this.sampler(size)
    const row_offset = round * size.rows
    const sampling = { seed, stream: PAIR_STREAM, step, row_offset, temperature }
    const prompts = promptBatch(samples, task)
    await rollout.generate(prompts, { ...sampling, top_k: null, top_p: 1 })
    const [ids] = await gpu.read(rollout.tensors.response_ids)
    const each = samples.flatMap((sample) => Array.from({ length: size.n }, () => sample))
    const asked = { response_ids: ids }
    const judged = await judge.judge(each, asked, size.response_length)
    const { batch, texts, scores } = judged
    const rewards = await reward?.(batch)
    const candidates = texts.map((text, b) => ({
      row: sequenceRow(batch, b),
      text,
      is_ended: batch.is_ended[b],
      score: scores[b],
      ...(rewards && { reward: rewards[b] }),
    }))
    return samples.map((_, i) => candidates.slice(i * size.n, (i + 1) * size.n))
  }

  /** Pairs that the rows of the task bring: the better response scores 1, the worse 0. Those to
   * train on come first. */
  writtenPairs(count: number, heldOutCount: number): readonly ResponsePair[] {
    const { config, judge } = this.#parts
    const { seed, task } = config
    const pairs = [
      ...writtenPairs(task, seed, 'train_set', count),
      ...writtenPairs(task, seed, 'test', heldOutCount),
    ]
    const candidates = (texts: readonly string[], score: number): Candidate[] => {
      const batch = judge.batchOf(
        pairs.map(({ sample }) => sample),
        texts,
      )
      const is_ended = true
      return texts.map((text, b) => ({ row: sequenceRow(batch, b), text, is_ended, score }))
    }
    const better = candidates(
      pairs.map(({ chosen }) => chosen),
      1,
    )
    const worse = candidates(
      pairs.map(({ rejected }) => rejected),
      0,
    )
    return pairs.map(({ sample: { prompt } }, i) => ({ prompt, a: better[i], b: worse[i] }))
  }

  /** Answers of the rows that were judged one by one, those to train on first; undefined where the
   * task has none. */
  judged(count: number, heldOutCount: number): JudgedAnswers | undefined {
    const { config, judge } = this.#parts
    const { task } = config
    if (!task.verdicts) return undefined
    const answers = (split: 'train_set' | 'test', most: number): JudgedAnswer[] => {
      const verdicts = task.verdicts?.(split).slice(0, most) ?? []
      if (verdicts.length === 0) return []
      const batch = judge.batchOf(
        verdicts.map(({ sample }) => sample),
        verdicts.map(({ response }) => response),
      )
      return verdicts.map(({ sample, response: text, is_desirable }, b) => ({
        prompt: sample.prompt,
        answer: { row: sequenceRow(batch, b), text, is_ended: true, score: is_desirable ? 1 : 0 },
      }))
    }
    return { training: answers('train_set', count), held_out: answers('test', heldOutCount) }
  }

  /** Samples n responses to each of the next prompts and reads them back. */
  async sample(request: SamplingRequest): Promise<Sampled> {
    if (!isStale(request.phase)) return sampleNow(this.#parts, request)
    const { sampled, waiting } = await sampleStale(this.#parts, request, this.stale)
    this.stale = waiting
    return sampled
  }

  /** Learns how hard the problems of a step are from its responses, in the order of its groups. */
  learn({ places }: Sampled, { is_right, index }: Pick<Drawn, 'is_right' | 'index'>) {
    const right = places.map(() => 0)
    const rows = places.map(() => 0)
    index.forEach((group, b) => {
      rows[group]++
      right[group] += Number(is_right[b])
    })
    return this.data.learn(places.map((place, i) => ({ place, rate: right[i] / rows[i] })))
  }

  /** A phase begins: no samples wait, and it has a pass of its own. */
  beginPhase(): void {
    this.stale = []
    this.data.beginPhase()
  }

  /** Scores what was sampled: by the task or the experiment's reward, and by the reward model where
   * the phase is trained on one. */
  async score({ phase, reward }: SamplingRequest, sampled: Sampled): Promise<Drawn> {
    const { judge } = this.#parts
    const { n, max_response_length: R } = phase.rollout
    const { log_probs, baselines, sampler, metrics = {} } = sampled
    const order = this.#order(phase, sampled)
    const samples = order.map((row) => sampled.samples[row])
    const response_ids = pickRows(sampled.response_ids, order, R)
    const turns = sampled.turns && pickTurns([sampled.turns], order, R)
    const judged = await judge.judge(samples, { response_ids, ...(turns && { turns }) }, R)
    const { batch, texts, spoken, scores: taskScores, is_right, columns, problems } = judged
    const scores = reward ? Array.from(await reward(batch)) : taskScores
    const token_level_scores = tokenLevelScores(
      reward ? scores : penalised(phase, scores, batch),
      batch.response_lengths,
      batch.response_length,
    )
    return {
      ...(sampler && { sampler }),
      ...(spoken && { spoken }),
      samples,
      batch,
      texts,
      scores,
      taskScores,
      token_level_scores,
      order,
      metrics,
      is_right,
      columns,
      problems,
      index: order.map((row) => Math.floor(row / n)),
      ...(baselines && { reward_baselines: order.map((row) => baselines[row]) }),
      ...(log_probs && { rollout_log_probs: judge.widen(pickRows(log_probs, order, R), R) }),
    }
  }

  /** Rows in the order in which mini-batches are cut from them. */
  #order(phase: RlPhase, { samples, response_ids, turns }: Sampled): number[] {
    const rows = samples.map((_, b) => b)
    if (!phase.algorithm.balance_batch) return rows
    const { task } = this.#parts.config
    const { max_response_length: R } = phase.rollout
    const { attention_mask } = promptBatch(samples, task)
    const { response_lengths } =
      turns ?? responseEnds(response_ids, R, task.tokenizer.eos_token_ids)
    const P = task.max_prompt_length
    const seqlens = rows.map(
      (b) => response_lengths[b] + sum(attention_mask.subarray(b * P, (b + 1) * P)),
    )
    return balanceBatch(seqlens).flat()
  }
}
