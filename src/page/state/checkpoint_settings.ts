// Holds the settings of how runs are kept, remembered where that is possible.
import * as z from 'zod/mini'
import {
  DEFAULT_BUDGET_BYTES,
  DEFAULT_SCHEDULE,
  DEFAULT_TOTAL_BYTES,
} from '../../host/checkpoints/schedule.ts'
import type { CheckpointSettings } from '../../host/protocol/checkpoint_facts.ts'
import { remembered } from './remembered.ts'

/** What can be chosen for the checkpoints of one run, bytes. */
export const BUDGETS = [2 ** 26, DEFAULT_BUDGET_BYTES, 2 ** 30, 2 ** 32] as const

const DEFAULTS: CheckpointSettings = { ...DEFAULT_SCHEDULE, budget_bytes: DEFAULT_BUDGET_BYTES }

/** A legal value, or the default. */
const field = (name: keyof CheckpointSettings, low: number, high: number) =>
  z.catch(z.number().check(z.minimum(low), z.maximum(high)), DEFAULTS[name])

const kept = remembered(
  'checkpoints',
  z.object({
    every_steps: field('every_steps', 1, 1e6),
    every_ms: field('every_ms', 0, 3.6e6),
    budget_bytes: field('budget_bytes', 1e6, 1e11),
  }),
  DEFAULTS,
)

let settings: CheckpointSettings | undefined

export function checkpointSettings(): CheckpointSettings {
  settings ??= kept.get()
  return settings
}

/** Of runs that begin from now on. */
export function setCheckpointBudget(budget_bytes: number): void {
  settings = { ...checkpointSettings(), budget_bytes }
  kept.set(settings)
}

/** What can be chosen for the checkpoints of all runs, bytes. */
export const TOTALS = [2 ** 29, 2 ** 30, DEFAULT_TOTAL_BYTES, 2 ** 33, 2 ** 35] as const

const keptTotal = remembered(
  'checkpoints_total',
  z.number().check(z.minimum(1e8), z.maximum(1e12)),
  DEFAULT_TOTAL_BYTES,
)
let total: number | undefined

/** Bytes that the checkpoints of all runs may take. */
export function totalBudget(): number {
  total ??= keptTotal.get()
  return total
}

export function setTotalBudget(bytes: number): void {
  total = bytes
  keptTotal.set(bytes)
}
