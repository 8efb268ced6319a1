// Reads the list of scored tokens, for references.
import { SCORED_COLUMNS, type ScoredTokens } from './scored.ts'

/** A token that is scored. */
export interface ScoredEntry {
  readonly state: number
  readonly slot: number
  readonly id: number
}

/** The scored tokens of a list, in its order. */
export function scoredEntries({ tokens, scored }: ScoredTokens): ScoredEntry[] {
  const entries: ScoredEntry[] = []
  for (let i = 0; i < tokens; i++) {
    const [state, slot, id, isScored] = scored.subarray(i * SCORED_COLUMNS)
    if (isScored !== 0) entries.push({ state, slot, id })
  }
  return entries
}
