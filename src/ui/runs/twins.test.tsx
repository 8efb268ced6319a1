// An opened run is called as the table calls it, also where another one has its name.
import { History } from 'lucide-react'
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, expect, test, vi } from 'vitest'
import { libraryStore } from '../../page/runs/library/library_store.ts'
import { PastStatus } from '../learning/more/PastStatus.tsx'
import { openedStore } from '../open/opened_run.ts'
import { PastSettings } from '../settings/PastSettings.tsx'
import { PastRun } from './PastRun.tsx'
import { entryOf } from './table/testing.ts'

const source = { kind: 'trl', file: 'trainer_state.json', remarks: [] }
const logOf = (id: string) => {
  const entry = entryOf(id, {}, { name: 'trainer_state' })
  return { ...entry, header: { ...entry.header, source } }
}
const [first, second] = [logOf('a'), logOf('b')]

afterEach(() => {
  vi.restoreAllMocks()
  libraryStore.setState({ entries: [] })
  openedStore.setState({ opened: undefined })
})

test('twins are told apart in the bar, the settings and the banner', () => {
  libraryStore.setState({ entries: [first, second] })
  openedStore.setState({ opened: { id: 'b', unreadable: 0, isElsewhere: false } })
  // What is rendered to text reads the stores as they were at first.
  for (const store of [libraryStore, openedStore])
    vi.spyOn(store as typeof libraryStore, 'getInitialState').mockImplementation(
      store.getState as never,
    )
  const parts = [
    <PastStatus key="status" past={second} status="past" Icon={History} says={undefined} />,
    <PastSettings key="settings" entry={second} isOpen toggle={null} />,
    <PastRun key="run" />,
  ]
  for (const part of parts)
    expect(renderToStaticMarkup(part)).toMatch(/trainer_state #2(<\/span>)?”?/)
  expect(renderToStaticMarkup(<PastSettings entry={first} isOpen toggle={null} />)).not.toContain(
    '#',
  )
})

test('a log that is cut off has a warning sign in the bar', () => {
  const { header } = first
  if (!header.source) throw new Error('it is no log')
  const cut = { ...first, header: { ...header, source: { ...header.source, is_cut: true } } }
  const bar = (past: typeof first) =>
    renderToStaticMarkup(
      <PastStatus past={past} status="finished" Icon={History} says={undefined} />,
    )
  expect(bar(first)).toMatch(/data-status="finished".*lucide-history/)
  expect(bar(cut)).toMatch(/data-status="stopped".*lucide-circle-alert.*cut off at step 10 of 120/)
})
