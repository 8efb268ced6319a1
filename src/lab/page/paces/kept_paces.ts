// Remembers in this browser how fast runs were, so that the next one can say how long it will take.
import * as z from 'zod/mini'
import { createStore } from 'zustand/vanilla'
import { adapterName } from '../../protocol/card.ts'
import { takesTurns } from '../client/starting.ts'
import { isReplaying } from '../replay.ts'
import { type LabState, labStore } from '../store.ts'
import { type RunPaces, withRun } from './paces.ts'

const KEY = 'understory.paces'

const ms = z.number().check(z.minimum(0))
const stored = z.array(
  z.object({
    adapter: z.string(),
    settings: z.string(),
    phases: z.array(
      z.object({
        kind: z.enum(['sft', 'reward_model', 'rl']),
        cost: z.string(),
        pace: z.object({ step_ms: ms, validation_ms: z.optional(ms) }),
      }),
    ),
  }),
)

function read(): readonly RunPaces[] {
  try {
    const parsed = stored.safeParse(JSON.parse(localStorage.getItem(KEY) ?? '[]'))
    return parsed.success ? (parsed.data as readonly RunPaces[]) : []
  } catch {
    return []
  }
}

export const pacesStore = createStore<{ readonly runs: readonly RunPaces[] }>(() => ({ runs: [] }))

function remember(state: LabState): void {
  const { adapter } = state
  // A recording has another machine's speed, and a run that takes turns waits for the other one.
  if (!adapter || isReplaying() || takesTurns()) return
  const { runs } = pacesStore.getState()
  const now = withRun(runs, adapterName(adapter), state)
  if (now === runs) return
  pacesStore.setState({ runs: now })
  try {
    localStorage.setItem(KEY, JSON.stringify(now))
  } catch {
    // Full or off: it is known as long as the page is open.
  }
}

/** Reads what is known, and adds every run when it pauses or ends. To be called once per page. */
export function followPaces(): void {
  pacesStore.setState({ runs: read() })
  labStore.subscribe((now, before) => {
    if (before.status !== 'running') return
    if (now.run !== before.run) remember(before)
    else if (now.status !== 'running') remember(now)
  })
}
