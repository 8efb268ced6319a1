import { afterAll, expect, test, vi } from 'vitest'
import { appendRow, type Series } from '../../../host/columns/series.ts'
import { libraryStore } from '../../../page/runs/library/library_store.ts'
import { labStore } from '../../../page/state/store.ts'
import { greedyAccuracy } from '../../shown/metrics.ts'
import { uiStore } from '../../shown/store.ts'
import { entryOf } from '../table/testing.ts'
import { saveReport } from './save_report.ts'

afterAll(() => void vi.unstubAllGlobals())

test('what is said of a saved report counts its pictures, not its table', async () => {
  // Files of one process share their modules, so a module is no place for this.
  vi.stubGlobal('document', { createElement: () => ({ click: () => {} }) })
  vi.stubGlobal('location', { href: 'https://lab.example/' })
  const entry = entryOf('a', { seed: 1, greedy: 0.5 })
  const series = new Map<string, Series>()
  for (const step of [0, 1])
    appendRow(series, greedyAccuracy(entry.header.experiment.task.id), step, step / 2)
  labStore.setState({ series })
  libraryStore.setState({ living: 'a' })
  await saveReport([entry], undefined)
  expect(uiStore.getState().toast).toMatch(/report\.md and 1 picture$/)
})
