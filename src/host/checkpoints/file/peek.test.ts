import fc from 'fast-check'
import { expect, test } from 'vitest'
import { downloadName, fileOf, folderOf, stepOf } from '../storage/places.ts'
import { madeCheckpoint } from '../testing.ts'
import { encodeCheckpoint } from './checkpoint_file.ts'
import { peekCheckpoint } from './peek.ts'

test('a checkpoint says what it is before it is read', async () => {
  const made = madeCheckpoint()
  const peeked = await peekCheckpoint(new Blob([await encodeCheckpoint(made)]))
  expect(peeked).toMatchObject({
    name: made.run.experiment.name ?? '',
    step: made.run.trainer.step,
    planned: made.run.experiment.phases.reduce((sum, { steps }) => sum + steps, 0),
  })
  expect(peeked?.document).toEqual(JSON.parse(JSON.stringify(made.run.document)))
})

test('any other file is none, and nothing is thrown', async () => {
  const bytes = await encodeCheckpoint(madeCheckpoint())
  await fc.assert(
    fc.asyncProperty(
      fc.nat(bytes.length - 1),
      fc.uint8Array({ maxLength: 40 }),
      async (at, junk) => {
        const mutated = bytes.slice()
        mutated.set(junk.subarray(0, bytes.length - at), at)
        await peekCheckpoint(new Blob([mutated.slice(0, bytes.length - (at % 7))]))
        expect(await peekCheckpoint(new Blob([Uint8Array.from(junk)]))).toBeUndefined()
      },
    ),
    { numRuns: 60 },
  )
})

test('files have the names that other programs find them by', () => {
  expect(fileOf(120)).toBe('step_000120.safetensors')
  expect(stepOf(fileOf(1_234_567))).toBe(1_234_567)
  expect(stepOf('step_000120.safetensors.tmp')).toBeUndefined()
  expect(downloadName('tiny-seed-1', 7)).toBe('tiny-seed-1.step_000007.safetensors')
  for (const record of ['..', 'a/b', '']) expect(() => folderOf(record)).toThrow(RangeError)
})
