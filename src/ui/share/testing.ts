// Makes a run on the page for tests of links.
import { PRESETS } from '../../document/presets/presets.ts'
import { Series } from '../../host/columns/series.ts'
import { ADAPTER } from '../../host/protocol/testing.ts'
import { initialState, type LabState } from '../../page/state/store.ts'
import { greedyAccuracy } from '../shown/metrics.ts'

export const [{ experiment }] = PRESETS

/** After 45 steps, of which the accuracy was measured before the first and after the last. */
export function run(end: number, status: LabState['status'] = 'finished'): LabState {
  const column = new Series()
  column.push(0, 1 / 3)
  column.push(45, end)
  return {
    ...initialState(),
    experiment,
    runExperiment: experiment,
    runDocument: experiment,
    adapter: { ...ADAPTER, is_software: false },
    status,
    step: 45,
    series: new Map([[greedyAccuracy(experiment.task.id), column]]),
  }
}
