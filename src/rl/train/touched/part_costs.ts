// What does each part of a model do? Each is switched off by itself, in every pass, and the same
// held-out problems are answered: what that costs in reward, in the log-prob of the right answers,
// and in the entropy of every layer's policy.

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
import { mean } from '../../math/stats.ts'
import { type Estimate, pairedDifference } from './estimate.ts'
import { HeldOut } from './held_out.ts'
import { answersOf, rowsOf, type Sizes, sizesOf } from './problem_texts.ts'

/** A part of a model that can be switched off. */
export interface Part {
  readonly where: 'attention' | 'head' | 'feed_forward' | 'block'
  /** Blocks applied, from 1. */
  readonly layer: number
  /** From 0; of heads alone. */
  readonly head?: number
}

export interface PartCost extends Part {
  /** Differences from the untouched model, paired by problem. */
  readonly reward: Estimate
  /** Of the whole right answer, nats; absent where the answers are no texts of the vocabulary. */
  readonly log_prob?: Estimate
  /** Of the policy of each layer, 0 to L, where it writes the right answers; nats. */
  readonly entropies: readonly Estimate[]
}

export interface PartCosts {
  readonly problems: number
  readonly untouched: {
    readonly reward: number
    readonly log_prob?: number
    readonly entropies: readonly number[]
  }
  readonly parts: readonly PartCost[]
}

/** Every part, block by block. */
export const partsOf = ({
  num_hidden_layers: L,
  num_attention_heads: H,
}: Pick<ModelShape, 'num_hidden_layers' | 'num_attention_heads'>): Part[] =>
  Array.from({ length: L }, (_, l) => l + 1).flatMap((layer): Part[] => [
    { where: 'block', layer },
    { where: 'attention', layer },
    ...Array.from({ length: H }, (_, head): Part => ({ where: 'head', layer, head })),
    { where: 'feed_forward', layer },
  ])

const QUANTITIES = ['ent_layer_raw', 'ent_layer_norm', 'logp_next_layer_norm'] as const

const createReader = (alloc: Allocator, shape: ModelShape, size: Sizes) => {
  const ws = createWorkspace(alloc, shape, { ...size, response_length: 0, trains: false })
  return createInternals(alloc, shape, ws, { quantities: QUANTITIES, positions: 'all' })
}

/** What this takes, on a plan. */
export function planParts(
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
  const program = await gpu.record('part_costs', [], (r) => recordInternals(r, model, internals))
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

const offChange = ({ where, layer, head }: Part, shape: ModelShape): Change => ({
  where,
  layer,
  head,
  adds: false,
  values: new Float32Array(where === 'head' ? shape.head_dim : shape.hidden_size),
})

const column = (rows: readonly (readonly number[])[], l: number) => rows.map((row) => row[l])

/** `onDone` is called after each part. */
export async function partCosts(
  gpu: Gpu,
  of: { readonly config: TrainerConfig; readonly layout: ParamLayout; weights: Float32Array },
  prompts: number,
  onDone: () => void = () => {},
): Promise<PartCosts> {
  const { layout, weights } = of
  const { shape } = layout
  const held_out = await HeldOut.create(gpu, of.config, layout, prompts, true)
  const { model, config } = held_out
  uploadModel(gpu, model, weights)
  const texts = answersOf(config, prompts)
  const pad = config.task.tokenizer.pad_token_id
  const read = texts.length > 0 ? await answerReader(gpu, model, texts, pad) : undefined
  const set = (changes: readonly Change[]) => {
    if (model.interventions) writeInterventions(gpu, model.interventions, shape, changes)
  }
  const measure = async () => ({ scores: (await held_out.answers()).scores, read: await read?.() })
  set([])
  const before = await measure()
  const layers = Array.from({ length: shape.num_hidden_layers + 1 }, (_, l) => l)
  const parts: PartCost[] = []
  for (const part of partsOf(shape)) {
    set([offChange(part, shape)])
    const after = await measure()
    const [was, is] = [before.read, after.read]
    parts.push({
      ...part,
      reward: pairedDifference(before.scores, after.scores),
      ...(was && is && { log_prob: pairedDifference(was.log_probs, is.log_probs) }),
      entropies:
        was && is
          ? layers.map((l) => pairedDifference(column(was.entropies, l), column(is.entropies, l)))
          : [],
    })
    onDone()
  }
  set([])
  return {
    problems: before.scores.length,
    untouched: {
      reward: mean(before.scores),
      ...(before.read && { log_prob: mean(before.read.log_probs) }),
      entropies: before.read
        ? layers.map((l) => mean(column(before.read?.entropies ?? [], l)))
        : [],
    },
    parts,
  }
}
