// Holds the reward model of a run: made from the policy, taught by preferences, and asked for the
// scores of responses.

import type { Allocator, Tensor } from '../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../kernels/device/gpu.ts'
import { type ParamLayout, sharedRuns } from '../../model/layout/params.ts'
import { copyParams, writeParams } from '../../model/params/param_copies.ts'
import type { ParamTensors } from '../../model/params/param_tensors.ts'
import type { RewardModelPhase } from '../config/phase.ts'
import type { RolloutBatch } from '../experience/batch.ts'
import { type PairScores, rewardModelMetrics, takenUpdates } from '../metrics/metrics.ts'
import { brokenUpdate, type NonFinite } from '../metrics/nonfinite.ts'
import { type SequenceRow, sequenceRow } from './pairs.ts'
import { type PhasePairSource, phasePairs } from './phase_pairs.ts'
import { type Preference, Preferences, type PreferencesState } from './preferences.ts'
import {
  createRewardModelTensors,
  RewardModel,
  type RewardModelSize,
  type RewardModelTensors,
  type Sequences,
} from './reward_model.ts'
import { type ScoredPair, SHOWN_PAIRS, scoredPair } from './scored_pairs.ts'

/** `scores`: the most scores that are kept until they are read back together. */
export type RewardSize = RewardModelSize & { readonly scores: number }

interface RewardTensors {
  readonly model: RewardModelTensors
  readonly scores: Tensor<'f32'>
}

/** Allocates a reward model and room for its scores. */
export function createRewardTensors(
  alloc: Allocator,
  layout: ParamLayout,
  size: RewardSize,
): RewardTensors {
  return {
    model: createRewardModelTensors(alloc, layout, size),
    scores: createScores(alloc, size),
  }
}

const createScores = (alloc: Allocator, { scores }: RewardSize) =>
  alloc.tensor('reward_model.scores', 'f32', [scores], { kind: 'batch' })

/** The numbers of one step. */
export interface RewardStep {
  readonly metrics: Record<string, number>
  /** Some of the held-out pairs, where they were scored. */
  readonly scored_pairs: readonly ScoredPair[]
  readonly nonFinite?: NonFinite
}

/** The phases of kind reward_model, and the reward of the rl phases that ask for it. */
export class RewardTraining {
  readonly layout: ParamLayout
  #gpu: Gpu
  #seed: number
  #model: RewardModel
  #scores: Tensor<'f32'>
  /** The score as it was at first. */
  #head: Float32Array
  #preferences: Preferences | undefined

  private constructor(
    gpu: Gpu,
    seed: number,
    {
      layout,
      model,
      scores,
      head,
    }: {
      readonly layout: ParamLayout
      readonly model: RewardModel
      readonly scores: Tensor<'f32'>
      readonly head: Float32Array
    },
  ) {
    this.#gpu = gpu
    this.#seed = seed
    this.layout = layout
    this.#model = model
    this.#scores = scores
    this.#head = head
  }

  /** `layout` has a reward head; `weights` are fresh ones of it, of which the score is kept. */
  static async create(
    gpu: Gpu,
    layout: ParamLayout,
    weights: Float32Array,
    {
      seed,
      size,
      pad_token_id,
    }: { readonly seed: number; readonly size: RewardSize; readonly pad_token_id: number },
  ): Promise<RewardTraining> {
    const model = await RewardModel.create(gpu, layout, size, pad_token_id, weights)
    const scores = createScores(gpu, size)
    const head = weights.slice(scoreOffset(layout))
    return new RewardTraining(gpu, seed, { layout, model, scores, head })
  }

  /** The present phase's; undefined before the first. */
  get preferences(): Preferences | undefined {
    return this.#preferences
  }

  /** Records the updates of a phase, where that has not been done. */
  prepare({ optim }: RewardModelPhase): Promise<void> {
    return this.#model.trainable.prepare(this.layout.shape.num_hidden_layers, optim)
  }

  /** Begins a phase: the policy's present transformer under the first score, a new optimizer, and
   * the pairs that the policy makes now, or that the rows bring. Throws NoPairsError where there
   * are none. */
  async begin(
    { kind, pairs }: RewardModelPhase,
    { buffers: policy }: Pick<ParamTensors, 'buffers'>,
    policyLayout: ParamLayout,
    source: PhasePairSource,
  ): Promise<void> {
    const { layout } = this
    const gpu = this.#gpu
    const { weights } = this.#model.tensors
    writeParams(gpu, weights, this.#head, scoreOffset(layout))
    copyParams(gpu, policy, weights, sharedRuns(policyLayout, layout))
    this.#model.trainable.resetOptimizer()
    const drawn = await phasePairs(pairs, source, kind)
    this.#preferences = new Preferences(pairs, this.#seed, drawn)
  }

  /** Continues a phase that began in another trainer; `tensors` must get the weights and the
   * optimizer from there too. */
  resume({ pairs }: RewardModelPhase, state: PreferencesState): void {
    this.#preferences = Preferences.resume(pairs, this.#seed, state)
  }

  /** The model with its optimizer. */
  get tensors(): RewardModelTensors {
    return this.#model.tensors
  }

  /** One optimizer step on the next pairs; with `measures`, all held-out pairs are scored after it.
   * One readback. */
  step(phase: RewardModelPhase, lr: number, measures: boolean): Promise<RewardStep> {
    const preferences = this.#preferences
    if (!preferences) throw new Error('reward model: the phase has not begun')
    const gpu = this.#gpu
    const model = this.#model
    const { sums, history, nonfinite } = model.tensors
    const { rows } = model.tensors.workspace
    const batch = preferences.nextBatch(phase.batch_size)
    const heldOut = measures ? preferences.held_out : []
    const trained = preferences.training.length
    const prompts = preferences.held_out.map(({ prompt }) => prompt)

    gpu.stage('update_reward_model')
    model.trainable.beginStep()
    model.clearGradients()
    for (let first = 0; first < batch.length; first += rows / 2) {
      const part = batch.slice(first, first + rows / 2)
      const both = [...part.map(chosenRow), ...part.map(rejectedRow)]
      model.accumulate(sequencesOf(both, rows), 1 / batch.length)
      this.#keepScores(2 * first)
    }
    const { num_hidden_layers } = this.layout.shape
    model.trainable.apply(num_hidden_layers, phase.optim, phase.grad_clip, lr)
    const both = heldOut.flatMap((pair) => [chosenRow(pair), rejectedRow(pair)])
    const scored = this.#scoreRows(both, 2 * batch.length)

    const kept = gpu.view(this.#scores, 'reward_model.kept', 0, [2 * batch.length + scored])
    return gpu.read(sums, history, kept, nonfinite).then(([totals, controls, scores, found]) => {
      const ofBatch = batchScores(scores.subarray(0, 2 * batch.length), rows)
      const ofHeldOut = heldOutScores(scores.subarray(2 * batch.length), heldOut.length)
      const taken = takenUpdates(controls, 1)
      const nonFinite = brokenUpdate('reward_model', this.layout, taken, found)
      return {
        ...(nonFinite && { nonFinite }),
        metrics: {
          ...rewardModelMetrics(totals, controls, ofBatch, ofHeldOut),
          'reward_model/lr': lr,
          'reward_model/pairs': trained,
          'reward_model/held_out_pairs': prompts.length,
          'reward_model/held_out_prompts': new Set(prompts).size,
          'reward_model/human_pairs': preferences.given,
          'reward_model/ties': preferences.ties,
        },
        scored_pairs: heldOut
          .slice(0, SHOWN_PAIRS)
          .map((pair, i) =>
            scoredPair(pair, { chosen: ofHeldOut.chosen[i], rejected: ofHeldOut.rejected[i] }),
          ),
      }
    })
  }

  /** The score of every response, at its last token; [B]. One readback. */
  async score(batch: RolloutBatch): Promise<Float32Array> {
    this.#gpu.stage('reward')
    const rows = Array.from({ length: batch.rows }, (_, b) => sequenceRow(batch, b))
    this.#scoreRows(rows, 0)
    const [scores] = await this.#gpu.read(
      this.#gpu.view(this.#scores, 'reward_model.kept', 0, [batch.rows]),
    )
    return scores
  }

  /** The weights in the flat layout. */
  exportWeights(): Promise<Float32Array> {
    return this.#model.trainable.exportWeights()
  }

  /** Encodes the scores of any number of rows, kept from `offset`; returns how many are kept, the
   * filled-up part included. */
  #scoreRows(all: readonly SequenceRow[], offset: number): number {
    const { rows } = this.#model.tensors.workspace
    let first = 0
    for (; first < all.length; first += rows) {
      this.#model.score(sequencesOf(all.slice(first, first + rows), rows))
      this.#keepScores(offset + first)
    }
    return first
  }

  #keepScores(toOffset: number): void {
    this.#gpu.copy(this.#model.tensors.score.scores, this.#scores, {
      toOffset,
      count: this.#model.tensors.workspace.rows,
    })
  }
}

const chosenRow = ({ chosen }: Preference): SequenceRow => chosen.row
const rejectedRow = ({ rejected }: Preference): SequenceRow => rejected.row

const scoreOffset = ({ slices, size }: ParamLayout) => slices.score?.offset ?? size

/** Scores of a batch as it went through: in parts of `rows`, of which the first half is chosen. */
function batchScores(scores: Float32Array, rows: number): PairScores {
  const isChosen = (i: number) => i % rows < rows / 2
  return {
    chosen: [...scores].filter((_, i) => isChosen(i)),
    rejected: [...scores].filter((_, i) => !isChosen(i)),
  }
}

/** Scores of chosen and rejected in turn. */
const heldOutScores = (scores: Float32Array, pairs: number): PairScores => ({
  chosen: Array.from({ length: pairs }, (_, i) => scores[2 * i]),
  rejected: Array.from({ length: pairs }, (_, i) => scores[2 * i + 1]),
})

/** Sequences of `count` rows, the last one repeated to fill them. Each is scored at its last
 * attended token, with or without an end token (verl/workers/fsdp_workers.py RewardModelWorker:
 * argmax of position_ids · attention_mask). */
export function sequencesOf(all: readonly SequenceRow[], count: number): Sequences {
  const T = all[0].input_ids.length
  const filled = Array.from({ length: count }, (_, b) => all[Math.min(b, all.length - 1)])
  const join = (name: keyof SequenceRow) => {
    const values = new Uint32Array(count * T)
    filled.forEach((row, b) => {
      values.set(row[name], b * T)
    })
    return values
  }
  return {
    input_ids: join('input_ids'),
    attention_mask: join('attention_mask'),
    position_ids: join('position_ids'),
    last_rows: Uint32Array.from(
      filled,
      ({ attention_mask }, b) => b * T + attention_mask.lastIndexOf(1),
    ),
  }
}
