// Finds what was done to a run and what its steps were trained with: a value that another one
// replaced, or that was put back, before a step had seen it is not in the document any more.

import type { SteeringEntry } from '../steering/actions.ts'

interface Steered {
  /** All that was asked for, in order. */
  readonly steered: readonly {
    readonly entry: SteeringEntry
    readonly refused?: string | undefined
  }[]
  /** Of its document: what was done, and what is still to come. */
  readonly steering: readonly SteeringEntry[]
}

/** A document that was read back has the names of an entry in another order. */
const keyOf = (entry: SteeringEntry): string => JSON.stringify(Object.entries(entry).sort())

/** What was done, without what left nothing behind. */
export function lasting({ steered, steering }: Steered): readonly SteeringEntry[] {
  const done = new Set(
    steered.flatMap(({ entry, refused }) => (refused === undefined ? keyOf(entry) : [])),
  )
  return steering.filter((entry) => done.has(keyOf(entry)))
}
