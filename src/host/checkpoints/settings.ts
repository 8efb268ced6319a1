// How the runs of this browser are kept: remembered where that is possible.
import type { CheckpointSettings } from '../protocol/checkpoint_facts.ts'
import { DEFAULT_BUDGET_BYTES, DEFAULT_SCHEDULE, DEFAULT_TOTAL_BYTES } from './schedule.ts'

const KEY = 'understory.checkpoints'

/** Legal values, from and to. */
const RANGES: Readonly<Record<keyof CheckpointSettings, readonly [number, number]>> = {
  every_steps: [1, 1e6],
  every_ms: [0, 3.6e6],
  budget_bytes: [1e6, 1e11],
}

/** What can be chosen for the checkpoints of one run, bytes. */
export const BUDGETS = [64e6, DEFAULT_BUDGET_BYTES, 1e9, 4e9] as const

let settings: CheckpointSettings | undefined

function remembered(): Partial<CheckpointSettings> {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}')
    if (typeof stored !== 'object' || stored === null) return {}
    const sound = Object.entries(RANGES).filter(([name, [low, high]]) => {
      const value = (stored as Record<string, unknown>)[name]
      return typeof value === 'number' && value >= low && value <= high
    })
    return Object.fromEntries(
      sound.map(([name]) => [name, (stored as Record<string, unknown>)[name]]),
    )
  } catch {
    return {}
  }
}

export function checkpointSettings(): CheckpointSettings {
  settings ??= { ...DEFAULT_SCHEDULE, budget_bytes: DEFAULT_BUDGET_BYTES, ...remembered() }
  return settings
}

/** Of runs that begin from now on. */
export function setCheckpointBudget(budget_bytes: number): void {
  settings = { ...checkpointSettings(), budget_bytes }
  try {
    localStorage.setItem(KEY, JSON.stringify(settings))
  } catch {
    // Storage is off: the choice lasts as long as the page.
  }
}

const TOTAL_KEY = 'understory.checkpoints_total'
/** What can be chosen for the checkpoints of all runs, bytes. */
export const TOTALS = [5e8, 1e9, DEFAULT_TOTAL_BYTES, 8e9, 32e9] as const

let total: number | undefined

/** Bytes that the checkpoints of all runs may take. */
export function totalBudget(): number {
  if (total !== undefined) return total
  try {
    const stored = Number(localStorage.getItem(TOTAL_KEY))
    total = TOTALS.find((choice) => choice === stored) ?? DEFAULT_TOTAL_BYTES
  } catch {
    total = DEFAULT_TOTAL_BYTES
  }
  return total
}

export function setTotalBudget(bytes: number): void {
  total = bytes
  try {
    localStorage.setItem(TOTAL_KEY, `${bytes}`)
  } catch {
    // As above.
  }
}
