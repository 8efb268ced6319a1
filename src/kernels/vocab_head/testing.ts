// Makes lists of scored tokens for tests of the vocabulary head.
import { randomValues } from '../testing.ts'
import { scoredEntries } from './scored.ref.ts'
import { SCORED_COLUMNS, type ScoredTokens } from './scored.ts'
import type { HeadSizes } from './vocab_head.ref.ts'

/** 0 … count - 1 in a seeded order. */
export function shuffled(count: number, seed: number): number[] {
  const keys = randomValues(count, seed)
  return Array.from({ length: count }, (_, i) => i).sort((a, b) => keys[a] - keys[b])
}

/** Rows of `hidden` that no entry of scatteredList reads. */
const SPARE_STATES = 3

/** States that scatteredList's entries point into. */
export const scatteredStates = (tokens: number): number => tokens + SPARE_STATES

/** A list with slots in any order and states anywhere in [0, tokens + 3); scored tokens first. ids
 * [tokens], by slot. */
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

/** Sizes at a temperature other than 1. */
export const sizesOf = (hidden_size: number, vocab_size: number): HeadSizes => ({
  hidden_size,
  vocab_size,
  inv_temperature: 0.75,
})

/** Random inputs whose logits reach about ±10, slots and states in any order. Every fifth slot is
 * not scored and its gradients are garbage; every seventh is scored and has none. States that no
 * scored token reads are NaN. */
export function inputs(tokens: number, s: HeadSizes, seed: number) {
  const scale = Math.sqrt(12 / Math.sqrt(s.hidden_size))
  const values = (count: number, of: number) => randomValues(count, seed + of).map((x) => x * scale)
  const ids = randomValues(tokens, seed + 2).map((x) => Math.floor(((x + 1) / 2) * s.vocab_size))
  const list = scatteredList(ids, (slot) => slot % 5 !== 3, seed + 5)
  const gradient = (x: number, slot: number) => (slot % 7 === 5 ? 0 : slot % 5 === 3 ? 1e6 : x)
  const hidden = values(scatteredStates(tokens) * s.hidden_size, 0)
  return {
    list,
    hidden: unreadAsNaN(hidden, s.hidden_size, list),
    weight: values(s.vocab_size * s.hidden_size, 1),
    d_log_probs: randomValues(tokens, seed + 3).map(gradient),
    d_entropy: randomValues(tokens, seed + 4).map(gradient),
  }
}
export type Inputs = ReturnType<typeof inputs>
