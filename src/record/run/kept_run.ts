// Keeps what one can look back at in a run, within a budget of bytes.
import type { Lens, LensReadout, Observation } from '../../host/protocol/observation.ts'
import type { Generation, RolloutSample, TokenTable } from '../../host/protocol/results.ts'
import { Kept } from './kept.ts'

export interface KeptOfRun {
  readonly samples: Kept<readonly RolloutSample[]>
  readonly observations: Kept<Observation>
  readonly traces: Kept<TokenTable>
  readonly generations: Kept<readonly Generation[]>
}

/** Everything that is kept, by kind. */
export const KEPT_KINDS = [
  'samples',
  'observations',
  'traces',
  'generations',
] as const satisfies readonly (keyof KeptOfRun)[]
export type KeptKind = (typeof KEPT_KINDS)[number]

/** Bytes for each kind, when nobody has chosen. */
export const DEFAULT_KEPT_BYTES = 16e6

let budget = DEFAULT_KEPT_BYTES

/** Of all that is kept of a run, by kind. */
export const keptBytes = (kept: KeptOfRun): Readonly<Record<KeptKind, number>> => ({
  samples: kept.samples.bytes,
  observations: kept.observations.bytes,
  traces: kept.traces.bytes,
  generations: kept.generations.bytes,
})

/** The budget of each kind, of runs to come and of this one. */
export function setKeptBudget(bytes: number, kept?: KeptOfRun): void {
  budget = bytes
  if (kept) for (const kind of KEPT_KINDS) kept[kind].budget = bytes
}

export const emptyKept = (): KeptOfRun => ({
  samples: new Kept(budget),
  observations: new Kept(budget),
  traces: new Kept(budget),
  generations: new Kept(budget),
})

/** Of an object with a few numbers, beside its texts. */
const OBJECT_BYTES = 120
const textBytes = (text: string) => 2 * text.length + 16

export function keepSamples(
  kept: KeptOfRun,
  step: number,
  samples: readonly RolloutSample[],
): void {
  const bytes = samples.reduce(
    (sum, { prompt, response, ground_truth }) =>
      sum + OBJECT_BYTES + textBytes(prompt + response + ground_truth),
    0,
  )
  kept.samples.push(step, samples, bytes)
}

export function keepGenerations(
  kept: KeptOfRun,
  step: number,
  generations: readonly Generation[],
): void {
  const bytes = generations.reduce(
    (sum, { input, output, gts }) => sum + OBJECT_BYTES + textBytes(input + output + gts),
    0,
  )
  kept.generations.push(step, generations, bytes)
}

export function keepTrace(kept: KeptOfRun, step: number, table: TokenTable): void {
  const bytes = table.samples.reduce(
    (sum, { prompt, response, tokens, columns, layer_entropy }) => {
      const numbers = Object.values(columns).reduce((count, column) => count + column.length, 0)
      const texts = textBytes(prompt + response) + 24 * tokens.length
      const layers = layer_entropy
        ? layer_entropy.raw.byteLength + layer_entropy.normed.byteLength + OBJECT_BYTES
        : 0
      return sum + 2 * OBJECT_BYTES + texts + 8 * numbers + layers
    },
    0,
  )
  kept.traces.insert(step, table, bytes)
}

const readoutBytes = ({ entropy, top, top_probs, next_prob }: LensReadout) =>
  entropy.byteLength + top_probs.byteLength + next_prob.byteLength + 8 * top.length
const lensBytes = ({ tokens, raw, normed }: Lens) =>
  OBJECT_BYTES + 24 * tokens.length + readoutBytes(raw) + readoutBytes(normed)

export function keepObservation(kept: KeptOfRun, step: number, observation: Observation): void {
  const { mean, std, readings = [], lenses, parts } = observation
  const numbers = [mean, std, ...readings.map(({ entropy, kl }) => ({ entropy, kl }))]
    .flatMap((values) => Object.values(values))
    .reduce((sum, values) => sum + values.length, 0)
  const lensed = lenses.reduce((sum, lens) => sum + lensBytes(lens), 0)
  // A part has the cost of two numbers and of some entropies.
  const parted = 4 * OBJECT_BYTES * (parts?.parts.length ?? 0)
  kept.observations.insert(step, observation, OBJECT_BYTES + 8 * numbers + lensed + parted)
}

/** Lets go of what came after a step. */
export function cutKept(kept: KeptOfRun, step: number): void {
  for (const kind of KEPT_KINDS) kept[kind].cut(step)
}
