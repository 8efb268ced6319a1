// Collects what the shown run has measured of its layers, by its probe or by the figures of the tab
// Inside.
import { useMemo } from 'react'
import { editField } from '../../../page/client/edits.ts'
import type { LabState } from '../../../page/state/store.ts'
import {
  decidingChanges,
  type LayerChanges,
  laterChanges,
} from '../../../record/diagnosis/inner_layer.ts'
import { refusedWords } from '../../shown/names/refused.ts'
import { useKept } from '../../shown/rested.ts'
import { shownExperiment, useLastLayer } from '../../shown/run.ts'
import { useShown } from '../../shown/shown.ts'
import { showToast } from '../../shown/store.ts'

const selectSeries = (state: LabState) => state.series
const selectStep = (state: LabState) => state.step

/** Steps before reinforcement; undefined until it has begun. */
export const selectRlStart = (state: LabState): number | undefined => {
  const { phases } = shownExperiment(state)
  return state.phase_switches.find(({ phase }) => phases[phase]?.kind === 'rl')?.step
}

/** What is measured of the shown run, and its version: columns and items are mutable. */
function useMeasured() {
  const series = useShown(selectSeries)
  const step = useShown(selectStep)
  const layers = useLastLayer()
  const { items } = useKept().observations
  return { series, layers, items, version: [step, items.at(-1), items.length] as const }
}

/** The measurement that decides; undefined where there is none. */
export function useChanges(): LayerChanges | undefined {
  const { series, layers, items, version } = useMeasured()
  const rlStart = useShown(selectRlStart)
  return useMemo(
    () => decidingChanges(series, layers, rlStart, items),
    [series, layers, rlStart, items, ...version],
  )
}

/** The newest one of a later state than the one that decides. */
export function useLaterChanges(deciding: LayerChanges): LayerChanges | undefined {
  const { series, layers, items, version } = useMeasured()
  return useMemo(
    () => laterChanges(series, layers, deciding, items),
    [series, layers, deciding, items, ...version],
  )
}

/** Says in a toast why a change was refused, else that it was made. */
export function tell(problem: string | undefined, done: string): void {
  showToast(problem === undefined ? done : refusedWords(problem))
}

export const putLayer = (layer: number, phase: number): void =>
  tell(
    editField(`phases.${phase}.target_layer`, layer),
    `Phase ${phase + 1} trains layer ${layer}.`,
  )
