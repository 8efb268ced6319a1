import { expect, test } from 'vitest'
import { encodeCheckpoint } from '../../../host/checkpoints/file/checkpoint_file.ts'
import { madeCheckpoint } from '../../../host/checkpoints/testing.ts'
import { readHeader } from '../record/read.ts'
import { TINY } from '../testing.ts'
import { newestHeader, orphanHeader } from './orphans.ts'

const entry = (step: number, written_at: number) => ({ record: 'r1', step, bytes: 10, written_at })
const kept = [entry(2, 1000), entry(4, 2000)]
const peeked = { name: 'x', step: 4, planned: 10, bytes: 10, document: TINY.experiment }

test('a run that is known by its checkpoints alone has a record that can be read and gone on with', () => {
  const header = orphanHeader(kept, peeked, '1.0.0')
  expect(header).toMatchObject({
    id: 'r1',
    step: 4,
    status: 'stopped',
    was_left: true,
    preset_id: TINY.id,
    started_at: 1000,
    ended_at: 2000,
  })
  expect(readHeader(structuredClone(header)).ok).toBe(true)
})

test('where the newest file is empty, an older one says what the run is', async () => {
  const made = madeCheckpoint()
  const sound = new Blob([await encodeCheckpoint(made)])
  const blobs = new Map([
    [2, sound],
    [4, new Blob([])],
  ])
  const header = await newestHeader(kept, async (step) => blobs.get(step), '1.0.0')
  expect(header).toMatchObject({ id: 'r1', step: made.run.trainer.step, was_left: true })
  expect(header?.document.name).toBe(made.run.document.name)
  blobs.delete(2)
  expect(await newestHeader(kept, async (step) => blobs.get(step), '1.0.0')).toBeUndefined()
})

test('an unsound document gives none', () => {
  expect(orphanHeader(kept, { ...peeked, document: { phases: 3 } }, '1.0.0')).toBeUndefined()
  expect(orphanHeader([], peeked, '1.0.0')).toBeUndefined()
})
