// Measures what a change of a model costs: the same held-out problems are answered with it and
// without, and the right answers are read.

import type { Allocator } from '../../../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../../../kernels/device/gpu.ts'
import {
  type Change,
  writeInterventions,
} from '../../../../model/interventions/intervention_tensors.ts'
import type { ParamLayout } from '../../../../model/layout/params.ts'
import { type Model, uploadModel } from '../../../../model/transformer/model.ts'
import type { TrainerConfig } from '../../../config/trainer_config.ts'
import type { ChangeCost, Untouched } from '../../../look/observation.ts'
import { pairedDifference } from '../../../math/estimate.ts'
import { mean } from '../../../math/stats.ts'
import { AnswerReader, answerSizesOf, createReader, type ReadAnswer } from './answer_reader.ts'
import { HeldOut } from './held_out.ts'
import { answersOf } from './problem_texts.ts'

/** A problem, and how it is answered without a change and with it. */
export interface ChangedAnswer {
  readonly prompt: string
  readonly before: string
  readonly after: string
}

/** Problems that are shown. */
const EXAMPLES = 4

/** What measuring takes, on a plan. */
export function planChanges(
  alloc: Allocator,
  given: TrainerConfig,
  layout: ParamLayout,
  prompts: number,
): void {
  const config = { ...given, validation: { ...given.validation, prompts } }
  HeldOut.room(alloc, config, layout, true)
  const texts = answersOf(config, prompts)
  if (texts.length > 0) createReader(alloc, layout.shape, answerSizesOf(texts))
}

/** What a model made of the problems, by problem. */
export interface Answered {
  readonly scores: readonly number[]
  /** Of the right answers; undefined where they are no texts of the vocabulary. */
  readonly read: readonly ReadAnswer[] | undefined
}

interface Measured extends Answered {
  readonly texts: readonly { readonly prompt: string; readonly response: string }[]
  readonly is_right: readonly boolean[]
}

const chosenOf = (
  { texts, scores, is_right, read }: Measured,
  which: readonly number[],
): Measured => ({
  texts: which.map((i) => texts[i]),
  scores: which.map((i) => scores[i]),
  is_right: which.map((i) => is_right[i]),
  read: read && which.map((i) => read[i]),
})

const layerOf = (read: readonly ReadAnswer[], l: number) =>
  read.map(({ entropies }) => entropies[l])
const logProbsOf = (read: readonly ReadAnswer[]) => read.map(({ log_prob }) => log_prob)

/** Means over the problems. */
export const untouchedOf = ({ scores, read }: Answered): Untouched => ({
  reward: mean(scores),
  ...(read && { log_prob: mean(logProbsOf(read)) }),
  entropies: read ? read[0].entropies.map((_, l) => mean(layerOf(read, l))) : [],
})

/** What a change did to the same problems. */
export const costOf = (
  { scores: before, read: was }: Answered,
  { scores: after, read: is }: Answered,
): ChangeCost => ({
  reward: pairedDifference(before, after),
  ...(was && is && { log_prob: pairedDifference(logProbsOf(was), logProbsOf(is)) }),
  entropies:
    was && is
      ? was[0].entropies.map((_, l) => pairedDifference(layerOf(was, l), layerOf(is, l)))
      : [],
})

/** A model whose held-out answers are measured, untouched first and then with changes. */
export class ChangedAnswers {
  readonly model: Model
  readonly config: TrainerConfig
  /** Of the untouched model. */
  readonly is_right: readonly boolean[]
  readonly #gpu: Gpu
  readonly #measure: () => Promise<Measured>
  readonly #before: Measured

  private constructor(
    gpu: Gpu,
    { model, config }: HeldOut,
    measure: () => Promise<Measured>,
    before: Measured,
  ) {
    this.#gpu = gpu
    this.model = model
    this.config = config
    this.is_right = before.is_right
    this.#measure = measure
    this.#before = before
  }

  static async create(
    gpu: Gpu,
    of: { readonly config: TrainerConfig; readonly layout: ParamLayout; weights: Float32Array },
    prompts: number,
  ): Promise<ChangedAnswers> {
    const heldOut = await HeldOut.create(gpu, of.config, of.layout, prompts, true)
    const { model, config } = heldOut
    uploadModel(gpu, model, of.weights)
    const texts = answersOf(config, prompts)
    const pad = config.task.tokenizer.pad_token_id
    const reader =
      texts.length > 0
        ? await AnswerReader.create(gpu, model, answerSizesOf(texts), pad)
        : undefined
    const measure = async () => {
      const { texts: responses, scores, is_right } = await heldOut.answers()
      const shown = responses.map((response, i) => ({
        prompt: config.task.sample(config.seed, i, 'test').prompt,
        response,
      }))
      return { texts: shown, scores, is_right, read: await reader?.readAll(texts) }
    }
    if (model.interventions) writeInterventions(gpu, model.interventions, model.shape, [])
    return new ChangedAnswers(gpu, heldOut, measure, await measure())
  }

  /** Of the problems with these numbers; of all where not given. */
  untouched(which: readonly number[] = this.#all): Untouched {
    return untouchedOf(chosenOf(this.#before, which))
  }

  /** Some of those that the last change was measured with. */
  examples: readonly ChangedAnswer[] = []

  /** What changes that are made at once do to them; afterwards the model is untouched. */
  async cost(made: readonly Change[], which: readonly number[] = this.#all): Promise<ChangeCost> {
    const { interventions, shape } = this.model
    const set = (changes: readonly Change[]) => {
      if (interventions) writeInterventions(this.#gpu, interventions, shape, changes)
    }
    set(made)
    const after = chosenOf(await this.#measure(), which)
    set([])
    const before = chosenOf(this.#before, which)
    this.examples = before.texts.slice(0, EXAMPLES).map(({ prompt, response }, i) => ({
      prompt,
      before: response,
      after: after.texts[i].response,
    }))
    return costOf(before, after)
  }

  get problems(): number {
    return this.#before.scores.length
  }

  get #all(): readonly number[] {
    return this.#before.scores.map((_, i) => i)
  }
}
