// Declares what the panels ask about a model's inside while it trains, and the answer, as plain
// data. The page may load this file: it has types and constants alone.
import type { MeanQuantity } from '../../model/internals/internal_quantities.ts'
import type { Part } from '../../model/interventions/parts.ts'
import type { TranslatedReadout } from '../../model/layout/readout.ts'
import type { Estimate } from '../math/estimate.ts'

/** Quantities that one panel shows, measured together: a group that no panel shows costs nothing.
 * `of_layer` ones compare `ObservationRequest.layer` with every state. */
export const OBSERVED_GROUPS = {
  /** Entropies of every policy, and how long the states and writes are. */
  entropy: [
    'ent_layer_raw',
    'ent_layer_norm',
    'ent_attn_out',
    'ent_ffn_out',
    'norm_hidden',
    'norm_attn_out',
    'norm_ffn_out',
  ],
  /** BuPO, arXiv 2512.19673, figures 2 and 3. */
  flow: [
    'ent_layer_raw',
    'ent_attn_in',
    'ent_attn_out',
    'ent_ffn_in',
    'ent_ffn_out',
    'dH_layer',
    'dH_attn',
    'dH_ffn',
  ],
  /** Figure 12. */
  cosines: ['cos_attn', 'cos_ffn'],
  /** Figure 5: similarity of states, divergence of policies, and how well the final policy predicts
   * its own responses. */
  similarity: ['cos_hidden', 'kl_of_layer', 'kl_layer_final', 'logp_next_layer_norm'],
} as const satisfies Readonly<Record<string, readonly MeanQuantity[]>>

export type ObservedGroup = keyof typeof OBSERVED_GROUPS

/** What the visible panels want to see of every `every`-th step, and of the next one where it is
 * new. */
export interface ObservationRequest {
  readonly groups: readonly ObservedGroup[]
  /** The layer k that `kl_of_layer` measures from, 0 … L. */
  readonly layer: number
  readonly lens: LensRequest | undefined
  /** The token table of observed steps of reinforcement. */
  readonly tokens: boolean
  /** Traced steps also measure the entropy of every layer's policy at every token of their
   * table. */
  readonly token_layers: boolean
  /** At least 1. Step 0 is observed with every request. */
  readonly every: number
  /** Also look, whatever panels show, at the moments of a run that one looks back to
   * (`atMoment`). */
  readonly moments?: boolean
  /** Also switch each part off after validations, as often as most of the share of moments allows
   * (moments.ts); moments then have the rest. */
  readonly parts?: boolean
  /** Also read every layer through these lenses where the inside is observed: of the files that the
   * run has, or fitted once, on the rows of the step at which that is first asked for. */
  readonly readings?: readonly TranslatedReadout[]
}

export const NO_OBSERVATION: ObservationRequest = {
  groups: [],
  layer: 0,
  lens: undefined,
  tokens: false,
  token_layers: false,
  every: 1,
}

/** Held-out texts that the lens looks through at moments: as many as the page asks for, so that
 * what is said of a moment and of any other step is of the same texts. */
const TEXTS_AT_MOMENTS = 4

/** What a request comes to at a moment: after validations, after the first and the last step of a
 * phase, and at the end. All figures, the lens on texts that are the same each time, and the step's
 * tokens. The same where a request wants no moments. */
export function atMoment(request: ObservationRequest): ObservationRequest {
  if (!request.moments) return request
  const { lens } = request
  return {
    ...request,
    groups: Object.keys(OBSERVED_GROUPS) as ObservedGroup[],
    lens: {
      held_out: Math.max(TEXTS_AT_MOMENTS, lens?.held_out ?? 0),
      samples: lens?.samples ?? [],
    },
    tokens: true,
  }
}

/** Texts that the lens looks through. */
export interface LensRequest {
  /** So many held-out prompts with their right answers: the same at every step. */
  readonly held_out: number
  /** Responses that a person chose. */
  readonly samples: readonly LensSample[]
}

export interface LensSample {
  readonly prompt: string
  readonly response: string
  /** Whether an end token follows. */
  readonly is_ended: boolean
}

/** Tokens that a lens names per layer, likeliest first. */
export const LENS_TOP = 5

/** Positions of a text that a lens of an open model holds: of a longer text, its end. */
export const MOST_READ = 64

/** What every layer would say next, at every position of one text. S positions, L+1 layers, K =
 * LENS_TOP. */
export interface Lens extends LensSample {
  readonly is_held_out: boolean
  /** Text of each position's token, the prompt's first; S. */
  readonly tokens: readonly string[]
  /** How many of them are the prompt's. */
  readonly prompt_length: number
  /** Of the policy of H^l without norm, and of final_norm(H^l). */
  readonly raw: LensReadout
  readonly normed: LensReadout
}

/** Position s predicts token s + 1. */
export interface LensReadout {
  /** Nats, [S, L+1]. */
  readonly entropy: Float32Array
  /** Texts of the likeliest tokens, [S, L+1, K]. */
  readonly top: readonly string[]
  /** Their probabilities, [S, L+1, K]. */
  readonly top_probs: Float32Array
  /** Probability of the token that follows, [S, L+1]; NaN at the last position. */
  readonly next_prob: Float32Array
}

/** Mean and standard deviation over the tokens, by quantity: [L+1], [L] or [(L+1)²] numbers. */
export type ObservedValues = Readonly<Partial<Record<MeanQuantity, readonly number[]>>>

/** Whose tokens the quantities are means over. */
export type ObservedRows =
  /** Of responses that the step sampled. */
  | 'responses'
  /** Of the demonstrations that a supervised step trained on. */
  | 'demonstrations'
  /** Of the right answers to held-out prompts, where no batch was trained on: before the first
   * step, or after a rebuild. */
  | 'held_out'

/** What a change does: differences from the untouched model, paired by problem. */
export interface ChangeCost {
  readonly reward: Estimate
  /** Of the whole right answer, nats; absent where the answers are no texts of the vocabulary. */
  readonly log_prob?: Estimate
  /** Of the policy of each layer, 0 to L, where it writes the right answers; nats. */
  readonly entropies: readonly Estimate[]
}

export interface Untouched {
  readonly reward: number
  readonly log_prob?: number
  readonly entropies: readonly number[]
}

export type PartCost = Part & ChangeCost

/** Of every part, block by block. */
export interface PartCosts {
  readonly problems: number
  readonly untouched: Untouched
  readonly parts: readonly PartCost[]
}

/** The policies of the layers below the last, read through one lens. */
export interface LensReading {
  readonly readout: TranslatedReadout
  /** The step that the lens was fitted after; absent where it is of a file. */
  readonly fitted_after?: number
  /** Of each layer, 0 to L − 1: means over the response tokens of the probed rows, nats. `kl`: of
   * the final policy from it. */
  readonly entropy: readonly number[]
  readonly kl: readonly number[]
}

/** What one step showed. */
export interface Observation {
  readonly num_hidden_layers: number
  /** Absent where it was not written down. */
  readonly rows?: ObservedRows
  /** Response tokens of the probed rows. */
  readonly tokens: number
  readonly mean: ObservedValues
  readonly std: ObservedValues
  /** The layer that `kl_of_layer` is measured from. */
  readonly layer: number
  readonly lenses: readonly Lens[]
  /** What switching each part off cost, where that was measured. */
  readonly parts?: PartCosts
  /** What each lens that was asked for made of the layers. */
  readonly readings?: readonly LensReading[]
  /** Milliseconds of each part that was asked for: the GPU's own where it has timestamps, else from
   * the part's submission, or the end of what was before it, until its numbers were there. */
  readonly cost_ms: Readonly<Partial<Record<ObservedGroup | 'lens' | 'readings', number>>>
  /** Why something that was asked for is not there, a line each that begins with `group:`,
   * `lens:`, `parts:` or `readings:`; absent where all of it is. */
  readonly refused?: string
}

/** Whether a request asks for numbers of the model's inside. Tokens are the step's own. */
export const asksInside = ({ groups, lens }: ObservationRequest): boolean =>
  groups.length > 0 || (lens !== undefined && (lens.held_out > 0 || lens.samples.length > 0))

/** Whether one request asks for numbers of the inside that the other does not. */
export function asksMore(request: ObservationRequest, known: ObservationRequest): boolean {
  if (request.readings?.some((readout) => !known.readings?.includes(readout))) return true
  if (!asksInside(request)) return false
  const { groups, layer, lens } = request
  if (groups.some((group) => !known.groups.includes(group))) return true
  if (groups.includes('similarity') && layer !== known.layer) return true
  return lens !== undefined && JSON.stringify(lens) !== JSON.stringify(known.lens)
}

/** Whether a step is observed: every `every`-th, step 0 among them. */
export const isObserved = ({ every }: ObservationRequest, step: number): boolean =>
  step % Math.max(1, every) === 0

/** The first step after another that is so observed. */
export const nextObserved = ({ every }: ObservationRequest, step: number): number => {
  const apart = Math.max(1, every)
  return (Math.floor(step / apart) + 1) * apart
}
