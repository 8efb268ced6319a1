// Tests the contract of CheckpointFiles on every place where checkpoints lie: memory, the browser's
// file system, a folder.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { encodeCheckpoint } from '../../host/checkpoints/file/checkpoint_file.ts'
import { madeCheckpoint, tinyExperiment } from '../../host/checkpoints/testing.ts'
import { PLACES } from './testing.ts'

const EXPERIMENT = tinyExperiment({ phases: [{ kind: 'rl', steps: 99 }] })

/** A checkpoint of the run 'run': a folder leaves other files alone. */
const checkpointOf = (step: number) =>
  encodeCheckpoint({ ...madeCheckpoint(EXPERIMENT, step, 0), record: 'run' })

describe.each(Object.keys(PLACES))('%s', (name) => {
  let place: ReturnType<(typeof PLACES)[string]>
  beforeEach(() => {
    place = PLACES[name]()
  })
  afterEach(() => place.close())

  test('files are whole copies, listed by step', async () => {
    const { files } = place
    expect(await files.list('run')).toEqual([])
    expect(await files.read('run', 20)).toBeUndefined()
    const [twenty, ten] = [await checkpointOf(20), await checkpointOf(10)]
    const right = twenty.slice()
    await files.write('run', 20, twenty)
    await files.write('run', 10, ten)
    twenty.fill(7)
    expect(await files.read('run', 20)).toEqual(right)
    ;(await files.read('run', 20))?.fill(0)
    expect(await files.read('run', 20)).toEqual(right)
    expect(await files.read('run', 11)).toBeUndefined()
    expect(await files.list('run')).toMatchObject([
      { record: 'run', step: 10, bytes: ten.length },
      { record: 'run', step: 20, bytes: right.length },
    ])
    expect(await files.list('another')).toEqual([])
    await files.write('run', 20, ten)
    expect(await files.read('run', 20)).toEqual(ten)
    await files.remove('run', [10, 99])
    expect((await files.list()).map(({ step }) => step)).toEqual([20])
  })

  test('what has no room is an error, and leaves what was under the name', async () => {
    const { files, limit } = place
    const bytes = await checkpointOf(3)
    await files.write('run', 3, bytes)
    limit(bytes.length * 1.5)
    for (const step of [3, 4])
      await expect(files.write('run', step, await checkpointOf(step))).rejects.toThrow()
    expect((await files.list('run')).map(({ step }) => step)).toEqual([3])
    expect(await files.read('run', 3)).toEqual(bytes)
    limit(bytes.length * 2.5)
    await files.write('run', 4, await checkpointOf(4))
    expect(await files.list('run')).toHaveLength(2)
  })
})
