// Declares a command of the page, and the keys that panels answer themselves.
import type { LabState } from '../../../../page/state/store.ts'
import { presentStore } from '../../../shown/shown.ts'

export type CommandGroup =
  | 'Run'
  | 'Settings'
  | 'Files'
  | 'Steps of the run'
  | 'Parts of the page'
  | 'Page'

export interface Command {
  readonly id: string
  readonly group: CommandGroup
  /** What it does now; without a state, what it does in general. */
  readonly name: (state?: LabState) => string
  /** As keys.ts writes them; the first is the one that is shown. */
  readonly keys?: readonly string[]
  /** Other words that find it. */
  readonly also?: string
  /** Whether it can be done now; without it, always. */
  readonly can?: (state: LabState) => boolean
  readonly run: () => void
}

/** Whether the shown run has taken a step. */
export const hasSteps = (): boolean => presentStore.getState().series.size > 0

/** Keys that a panel of the page answers itself, while it is on screen. */
export const PANEL_KEYS: readonly { readonly keys: readonly string[]; readonly does: string }[] = [
  { keys: ['A', 'B'], does: 'Response A or response B is better' },
  { keys: ['X'], does: 'Neither response' },
  { keys: ['Z'], does: 'Take the last verdict back' },
  { keys: ['J', 'K'], does: 'Next and previous response' },
]
