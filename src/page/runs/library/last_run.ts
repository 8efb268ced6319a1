// Remembers which run began last in this browser. Times of day do not say it: a clock may be set
// back between two runs.
import * as z from 'zod/mini'
import { remembered } from '../../state/remembered.ts'
import type { RunEntry } from './library_store.ts'

const lastId = remembered('last_run', z.optional(z.string()), undefined)

export const rememberLastRun = (id: string): void => lastId.set(id)

/** The run that began last: as it was remembered, else the newest by the clock. `entries`: newest
 * first by the clock. */
export const lastRun = (
  entries: readonly RunEntry[],
  id: string | undefined = lastId.get(),
): RunEntry | undefined => entries.find((entry) => entry.id === id) ?? entries[0]
