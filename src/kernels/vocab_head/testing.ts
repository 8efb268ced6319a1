import { randomValues } from '../testing.ts'
import { scoredEntries } from './scored.ref.ts'
import { SCORED_COLUMNS, type ScoredTokens } from './scored.ts'

/** 0 … count - 1 in a seeded order. */
export function shuffled(count: number, seed: number): number[] {
  const keys = randomValues(count, seed)
  return Array.from({ length: count }, (_, i) => i).sort((a, b) => keys[a] - keys[b])
}

/** Rows of `hidden` that no entry of scatteredList reads. */
const SPARE_STATES = 3

/** States that scatteredList's entries point into. */
export const scatteredStates = (tokens: number): number => tokens + SPARE_STATES

/** A list with slots in any order and states anywhere in [0, tokens + 3); scored tokens first. ids [tokens], by slot. */
export function scatteredList(
  ids: ArrayLike<number>,
  isScored: (slot: number) => boolean,
  seed: number,
): ScoredTokens {
  const tokens = ids.length
  const states = shuffled(scatteredStates(tokens), seed)
  const slots = shuffled(tokens, seed + 1)
  const order = [...slots.filter(isScored), ...slots.filter((slot) => !isScored(slot))]
  const scored = order.flatMap((slot) => [states[slot], slot, ids[slot], Number(isScored(slot))])
  return { tokens, scored: Uint32Array.from(scored) }
}

/** The same entries in another order. */
export function reordered(
  { tokens, scored }: ScoredTokens,
  order: readonly number[],
): ScoredTokens {
  const entry = (i: number) => [...scored.subarray(i * SCORED_COLUMNS, (i + 1) * SCORED_COLUMNS)]
  return { tokens, scored: Uint32Array.from(order.flatMap(entry)) }
}

/** hidden [states, hidden_size] with NaN in every row that no scored token reads. */
export function unreadAsNaN(
  hidden: Float32Array,
  hidden_size: number,
  list: ScoredTokens,
): Float32Array {
  const read = new Set(scoredEntries(list).map(({ state }) => state))
  return hidden.map((x, i) => (read.has(Math.floor(i / hidden_size)) ? x : Number.NaN))
}
