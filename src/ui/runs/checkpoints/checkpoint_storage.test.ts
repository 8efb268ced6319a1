import { expect, test } from 'vitest'
import { listedOf } from './CheckpointStorage.tsx'

test('the checkpoints of a deleted run are not counted beside the runs of the list', () => {
  const kept = [
    { record: 'a', bytes: 10 },
    { record: 'a', bytes: 5 },
    { record: 'b', bytes: 20 },
  ]
  expect(listedOf(kept, [])).toEqual({ runs: 2, bytes: 35 })
  expect(listedOf(kept, ['b'])).toEqual({ runs: 1, bytes: 15 })
  expect(listedOf(kept, ['a', 'b'])).toEqual({ runs: 0, bytes: 0 })
})
