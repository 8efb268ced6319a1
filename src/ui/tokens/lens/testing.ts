// Makes up lenses for tests; never shipped.
import {
  LENS_TOP,
  type Lens,
  type LensReadout,
  type Observation,
} from '../../../host/protocol/observation.ts'

/** Arrays as plain numbers, so that a test can hand them to a page. */
type Plain<T> = { readonly [K in keyof T]: T[K] extends Float32Array ? readonly number[] : T[K] }
export type PlainLens = Omit<Lens, 'raw' | 'normed'> & {
  readonly raw: Plain<LensReadout>
  readonly normed: Plain<LensReadout>
}

const DIGITS = [...'0123456789']

/** The higher the layer and the `skill` (0 … 1), the likelier the right token; layer 0 knows
 * nothing. */
function readout(tokens: readonly string[], layers: number, skill: number): Plain<LensReadout> {
  const entropy: number[] = []
  const top: string[] = []
  const top_probs: number[] = []
  const next_prob: number[] = []
  tokens.forEach((_, s) => {
    for (let layer = 0; layer < layers; layer++) {
      const next = tokens[s + 1]
      const share = 0.05 + (0.9 * skill * layer) / (layers - 1)
      const others = DIGITS.filter((digit) => digit !== next).slice(s % 5)
      const rest = LENS_TOP - 1
      const ranked = [
        { token: next ?? '9', prob: share },
        ...Array.from({ length: rest }, (_, k) => ({
          token: others[k],
          prob: ((1 - share) * (rest - k)) / (rest * (rest + 1)),
        })),
      ].sort((a, b) => b.prob - a.prob)
      top.push(...ranked.map(({ token }) => token))
      top_probs.push(...ranked.map(({ prob }) => prob))
      next_prob.push(next === undefined ? Number.NaN : share)
      entropy.push(3.2 * (1 - share))
    }
  })
  return { entropy, top, top_probs, next_prob }
}

export function plainLens(
  prompt: string,
  response: string,
  { skill = 0.5, layers = 4, is_held_out = true } = {},
): PlainLens {
  const tokens = [...prompt, ...response, '<eos>']
  return {
    prompt,
    response,
    tokens,
    is_held_out,
    is_ended: true,
    prompt_length: prompt.length,
    raw: readout(tokens, layers, skill),
    normed: readout(tokens, layers, skill * 0.9),
  }
}

const typed = ({ entropy, top, top_probs, next_prob }: Plain<LensReadout>): LensReadout => ({
  entropy: Float32Array.from(entropy),
  top,
  top_probs: Float32Array.from(top_probs),
  next_prob: Float32Array.from(next_prob),
})

export const lensFrom = (plain: PlainLens): Lens => ({
  ...plain,
  raw: typed(plain.raw),
  normed: typed(plain.normed),
})

export const observationOf = (lenses: readonly Lens[], cost?: number): Observation =>
  ({
    num_hidden_layers: 3,
    rows: 'responses',
    tokens: 0,
    mean: {},
    std: {},
    layer: 0,
    lenses,
    cost_ms: cost === undefined ? {} : { lens: cost },
  }) as Observation
