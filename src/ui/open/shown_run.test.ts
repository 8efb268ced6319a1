import { afterEach, expect, test } from 'vitest'
import { OPENING } from '../../document/presets/presets.ts'
import { libraryStore } from '../../page/runs/library/library_store.ts'
import { fileTitle } from './shown_run.ts'

afterEach(() => libraryStore.setState({ entries: [] }))

test('files of a run are called as it is named, or by what differs in it', () => {
  const { experiment } = OPENING
  const optim = { ...experiment.actor.optim, lr: 0.006 }
  const other = { ...experiment, actor: { ...experiment.actor, optim } }
  const entry = (id: string, document: typeof experiment, name = '') => ({
    id,
    header: { document, preset_id: OPENING.id },
    labels: { name },
  })
  libraryStore.setState({
    entries: [
      entry('as it is', experiment),
      entry('changed', other),
      entry('named', other, 'High learning rate'),
    ] as never,
  })
  expect(fileTitle('as it is', experiment)).toBe(OPENING.name)
  expect(fileTitle('changed', other)).toBe('BuPO (REINFORCE++), layer 2 first, lr 0.006')
  expect(fileTitle('named', other)).toBe('High learning rate')
  expect(fileTitle(undefined, experiment)).toBe(OPENING.name)
})
