// Moves through the steps that are over: the whole page shows one of them, or follows the run.

import { labStore } from '../../page/state/store.ts'
import type { Kept } from '../../record/run/kept.ts'
import { KEPT_KINDS, type KeptOfRun, setKeptBudget } from '../../record/run/kept_run.ts'
import { presentStore, recordedInstead, shownStep } from '../shown/shown.ts'
import { uiStore } from '../shown/store.ts'

/** The first kept step after this one. */
function firstAfter({ items }: Pick<Kept<unknown>, 'items'>, step: number): number | undefined {
  let [low, high] = [0, items.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (items[middle].step <= step) low = middle + 1
    else high = middle
  }
  return items[low]?.step
}

/** The newest step before this one of which anything is kept. */
export function previousKept(kept: KeptOfRun, step: number): number | undefined {
  // Kept.at takes any step: one just below this one.
  const steps = KEPT_KINDS.flatMap((kind) => kept[kind].at(step - 0.5)?.step ?? [])
  return steps.length > 0 ? Math.max(...steps) : undefined
}

/** The first step after this one of which anything is kept. */
export function nextKept(kept: KeptOfRun, step: number): number | undefined {
  const steps = KEPT_KINDS.flatMap((kind) => firstAfter(kept[kind], step) ?? [])
  return steps.length > 0 ? Math.min(...steps) : undefined
}

/** Every step of which anything is kept. */
export const keptSteps = (kept: KeptOfRun): number[] => [
  ...new Set(KEPT_KINDS.flatMap((kind) => kept[kind].items.map(({ step }) => step))),
]

/** Shows a step on the whole page; the newest step, and undefined, follow the run. */
export function scrubTo(step: number | undefined): void {
  const newest = presentStore.getState().step
  const atStep = step === undefined || step >= newest ? undefined : Math.max(0, Math.round(step))
  uiStore.setState({ atStep })
}

/** Charts and figures that show a recording in place of a run stand at the step that the picture
 * plays; undefined for its end. */
export function showPlayed(atStep: number | undefined): void {
  if (recordedInstead() && uiStore.getState().atStep !== atStep) uiStore.setState({ atStep })
}

export const follow = (): void => scrubTo(undefined)

/** To the kept step before or after the shown one; after the last one the page follows again. */
export function scrubKept(direction: -1 | 1): void {
  const { kept } = presentStore.getState()
  if (direction === 1) return scrubTo(nextKept(kept, shownStep()))
  const step = previousKept(kept, shownStep())
  if (step !== undefined) scrubTo(step)
}

/** Ends every zoom. */
export const showAllSteps = (): void => uiStore.setState({ zoom: undefined })

/** Keeps as much as was chosen, and follows again when another run is shown. */
export function startScrubbing(): void {
  setKeptBudget(uiStore.getState().kept_bytes, labStore.getState().kept)
  presentStore.subscribe((now, before) => {
    // Every run has columns of its own.
    if (now.series === before.series) return
    const { atStep, zoom } = uiStore.getState()
    if (atStep !== undefined || zoom) uiStore.setState({ atStep: undefined, zoom: undefined })
  })
}
