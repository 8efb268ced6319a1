// Measures what a change of a model costs: the same held-out problems are answered with it and
// without, and the right answers are read.

import type { Allocator } from '../../../kernels/device/base/tensor.ts'
import type { Gpu } from '../../../kernels/device/gpu.ts'
import { recordInternals } from '../../../model/internals/internals.ts'
import {
  createInternals,
  readInternals,
  uploadInternals,
} from '../../../model/internals/internals_tensors.ts'
import {
  type Change,
  writeInterventions,
} from '../../../model/interventions/intervention_tensors.ts'
import type { ModelShape } from '../../../model/layout/config.ts'
import type { ParamLayout } from '../../../model/layout/params.ts'
import { type Model, uploadModel } from '../../../model/transformer/model.ts'
import { createWorkspace } from '../../../model/transformer/workspace.ts'
import type { TrainerConfig } from '../../config/trainer_config.ts'
import type { LensText } from '../../look/lens_texts.ts'
import { type Estimate, pairedDifference } from '../../math/estimate.ts'
import { mean } from '../../math/stats.ts'
import { HeldOut } from './held_out.ts'
import { answersOf, rowsOf, type Sizes, sizesOf } from './problem_texts.ts'

/** What a change does: differences from the untouched model, paired by problem. */
export interface ChangeCost {
  readonly reward: Estimate
  /** Of the whole right answer, nats; absent where the answers are no texts of the vocabulary. */
  readonly log_prob?: Estimate
  /** Of the policy of each layer, 0 to L, where it writes the right answers; nats. */
  readonly entropies: readonly Estimate[]
}

/** A problem, and how it is answered without a change and with it. */
export interface ChangedAnswer {
  readonly prompt: string
  readonly before: string
  readonly after: string
}

/** Problems that are shown. */
const EXAMPLES = 4

export interface Untouched {
  readonly reward: number
  readonly log_prob?: number
  readonly entropies: readonly number[]
}

const QUANTITIES = ['ent_layer_raw', 'ent_layer_norm', 'logp_next_layer_norm'] as const

const createReader = (alloc: Allocator, shape: ModelShape, size: Sizes) => {
  const ws = createWorkspace(alloc, shape, { ...size, response_length: 0, trains: false })
  return createInternals(alloc, shape, ws, { quantities: QUANTITIES, positions: 'all' })
}

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
  if (texts.length > 0) createReader(alloc, layout.shape, sizesOf(texts))
}

/** What a model says of the right answers, by problem. */
interface Read {
  readonly log_probs: readonly number[]
  /** By problem, of each layer. */
  readonly entropies: readonly (readonly number[])[]
}

/** A function that reads the right answers with the model as it is then. */
async function answerReader(gpu: Gpu, model: Model, texts: readonly LensText[], pad: number) {
  const size = sizesOf(texts)
  const internals = createReader(gpu, model.shape, size)
  const program = await gpu.record('changed_answers', [], (r) =>
    recordInternals(r, model, internals),
  )
  const last = model.shape.num_hidden_layers
  return async (): Promise<Read> => {
    const log_probs: number[] = []
    const entropies: number[][] = []
    for (let first = 0; first < texts.length; first += size.rows) {
      // The last rows are filled up; what is read of the fillers is dropped.
      const batch = Array.from(
        { length: size.rows },
        (_, b) => texts[Math.min(texts.length - 1, first + b)],
      )
      uploadInternals(gpu, internals, rowsOf(batch, size, pad))
      gpu.replay(program)
      const { values } = await readInternals(gpu, internals)
      const positions = size.rows * size.width
      const at = (of: Float32Array, layer: number, place: number) => of[layer * positions + place]
      for (const [b, { ids, prompt_length }] of batch.slice(0, texts.length - first).entries()) {
        const begin = (b + 1) * size.width - ids.length + prompt_length - 1
        const places = Array.from({ length: ids.length - prompt_length }, (_, i) => begin + i)
        const logp = (place: number) => at(values.logp_next_layer_norm, last, place)
        log_probs.push(places.reduce((sum, place) => sum + logp(place), 0))
        entropies.push(
          Array.from({ length: last + 1 }, (_, l) =>
            mean(
              places.map((place) =>
                at(l === last ? values.ent_layer_norm : values.ent_layer_raw, l, place),
              ),
            ),
          ),
        )
      }
    }
    return { log_probs, entropies }
  }
}

const column = (rows: readonly (readonly number[])[], l: number) => rows.map((row) => row[l])

/** What the model made of the problems, by problem. */
interface Measured {
  readonly texts: readonly { readonly prompt: string; readonly response: string }[]
  readonly scores: readonly number[]
  readonly is_right: readonly boolean[]
  readonly read: Read | undefined
}

const chosenOf = (
  { texts, scores, is_right, read }: Measured,
  which: readonly number[],
): Measured => ({
  texts: which.map((i) => texts[i]),
  scores: which.map((i) => scores[i]),
  is_right: which.map((i) => is_right[i]),
  read: read && {
    log_probs: which.map((i) => read.log_probs[i]),
    entropies: which.map((i) => read.entropies[i]),
  },
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
    const read = texts.length > 0 ? await answerReader(gpu, model, texts, pad) : undefined
    const measure = async () => {
      const { texts: responses, scores, is_right } = await heldOut.answers()
      const texts = responses.map((response, i) => ({
        prompt: config.task.sample(config.seed, i, 'test').prompt,
        response,
      }))
      return { texts, scores, is_right, read: await read?.() }
    }
    if (model.interventions) writeInterventions(gpu, model.interventions, model.shape, [])
    return new ChangedAnswers(gpu, heldOut, measure, await measure())
  }

  /** Of the problems with these numbers; of all where not given. */
  untouched(which: readonly number[] = this.#all): Untouched {
    const { scores, read } = chosenOf(this.#before, which)
    return {
      reward: mean(scores),
      ...(read && { log_prob: mean(read.log_probs) }),
      entropies: read ? this.#layers.map((l) => mean(column(read.entropies, l))) : [],
    }
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
    const [was, is] = [before.read, after.read]
    return {
      reward: pairedDifference(before.scores, after.scores),
      ...(was && is && { log_prob: pairedDifference(was.log_probs, is.log_probs) }),
      entropies:
        was && is
          ? this.#layers.map((l) =>
              pairedDifference(column(was.entropies, l), column(is.entropies, l)),
            )
          : [],
    }
  }

  get problems(): number {
    return this.#before.scores.length
  }

  get #all(): readonly number[] {
    return this.#before.scores.map((_, i) => i)
  }

  get #layers(): readonly number[] {
    return Array.from({ length: this.model.shape.num_hidden_layers + 1 }, (_, l) => l)
  }
}
