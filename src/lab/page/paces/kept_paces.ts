// Remembers in this browser how fast runs were, so that the next one can say how long it will take.
import * as z from 'zod/mini'
import { adapterName } from '../../protocol/card.ts'
import { takesTurns } from '../client/starting.ts'
import { isReplaying } from '../replay.ts'
import { type LabState, labStore } from '../store.ts'
import { estimatorStore } from './estimator.ts'
import { estimateOf, type RunPaces, withRun } from './paces.ts'

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

let known: readonly RunPaces[] = []

function know(runs: readonly RunPaces[]): void {
  known = runs
  estimatorStore.setState({
    estimate: (adapter, experiment) => estimateOf(runs, adapterName(adapter), experiment),
  })
}

function remember(state: LabState): void {
  const { adapter } = state
  // A recording has another machine's speed, and a run that takes turns waits for the other one.
  if (!adapter || isReplaying() || takesTurns()) return
  const now = withRun(known, adapterName(adapter), state)
  if (now === known) return
  know(now)
  try {
    localStorage.setItem(KEY, JSON.stringify(now))
  } catch {
    // Full or off: it is known as long as the page is open.
  }
}

/** Reads what is known, and adds every run when it pauses or ends. To be called once per page. */
export function followPaces(): void {
  know(read())
  labStore.subscribe((now, before) => {
    if (before.status !== 'running') return
    if (now.run !== before.run) remember(before)
    else if (now.status !== 'running') remember(now)
  })
}
