import { expect, test } from 'vitest'
import { chosenStore, fileStore } from '../../open/file_store.ts'
import { openRunFiles } from './choose_run.ts'

test('a program is refused where a run is asked for, and nothing is opened', () => {
  const [log, program] = ['log.jsonl', 'score.py'].map((name) => new File(['x'], name))
  openRunFiles([log, program])
  expect(fileStore.getState().problem).toMatchObject({
    name: 'score.py',
    problems: [expect.stringContaining('a program, not a run')],
  })
  expect(chosenStore.getState().files).toEqual([])
  openRunFiles([log])
  expect(chosenStore.getState().files).toEqual([log])
})
