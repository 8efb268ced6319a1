import { expect, test } from 'vitest'
import type { CheckpointFiles, SteeredState } from '../../lab/checkpoints/checkpoint.ts'
import { decodeCheckpoint } from '../../lab/checkpoints/file/checkpoint_file.ts'
import { memoryFiles } from '../../lab/checkpoints/storage/memory_files.ts'
import { madeState, tinyExperiment } from '../../lab/checkpoints/testing.ts'
import { Checkpointer } from './checkpointing.ts'

const EXPERIMENT = tinyExperiment({ phases: [{ kind: 'rl', steps: 99 }] })
const ORIGIN = { record: 'run', made_on: { understory: '1', adapter: 'x', kernels: '' } }

/** A run that stands at a step, whose state may take its time. */
function runAt(step: number, until: Promise<unknown> = Promise.resolve()) {
  const state: SteeredState = {
    trainer: madeState(EXPERIMENT, step, 0),
    experiment: EXPERIMENT,
    document: EXPERIMENT,
    done: 0,
  }
  return { step, exportState: () => until.then(() => state) }
}

type StandingRun = ReturnType<typeof runAt>

/** What the loop does after a step was queued, and when it lands. */
async function afterStep(keeper: Checkpointer, run: StandingRun): Promise<void> {
  if (!keeper.isDue(run.step)) return
  if (keeper.is_patient) await keeper.idle
  keeper.take(run.step, 0, run.exportState)
  keeper.landed(run.step)
}

/** What the loop does at the end of a run. */
async function finish(keeper: Checkpointer, run: StandingRun): Promise<void> {
  await keeper.idle
  if (keeper.staleIn(run.step) === 0) keeper.take(run.step, 0, run.exportState)
  keeper.landed(run.step)
  await keeper.looked()
}

function made(files: CheckpointFiles, schedule = { every_steps: 10, every_ms: 10_000 }) {
  const said: string[] = []
  const clock = { now: 0 }
  const checkpoints = new Checkpointer({
    files,
    origin: ORIGIN,
    schedule,
    onProblem: (message) => said.push(message),
    now: () => clock.now,
  })
  const steps = async () => (await files.list('run')).map(({ step }) => step)
  return { checkpoints, said, clock, steps }
}

test('one is written when steps and time have passed, with what was told until its step', async () => {
  const files = memoryFiles()
  const { checkpoints, clock, steps } = made(files)
  for (let step = 0; step <= 25; step++)
    checkpoints.log.add({ type: 'step', step, metrics: { loss: step } })
  clock.now = 9000
  await afterStep(checkpoints, runAt(10))
  clock.now = 10_000
  await afterStep(checkpoints, runAt(15))
  await checkpoints.idle
  clock.now = 60_000
  await afterStep(checkpoints, runAt(24))
  await checkpoints.idle
  expect(await steps()).toEqual([15])
  await finish(checkpoints, runAt(24))
  await finish(checkpoints, runAt(24))
  expect(await steps()).toEqual([15, 24])
  const bytes = (await files.read('run', 15)) ?? new Uint8Array()
  const { run, history } = await decodeCheckpoint(bytes, 'x')
  expect(run.trainer.step).toBe(15)
  expect(history.series.get('loss')?.length).toBe(16)
})

test('a step does not wait for one that is under way, unless every one was asked for', async () => {
  let release = () => {}
  const slow = new Promise<void>((resolve) => {
    release = resolve
  })
  const own = made(memoryFiles())
  own.clock.now = 20_000
  await afterStep(own.checkpoints, runAt(10, slow))
  own.clock.now = 40_000
  await afterStep(own.checkpoints, runAt(20))
  release()
  await own.checkpoints.idle
  expect(await own.steps()).toEqual([10])

  const every = made(memoryFiles(), { every_steps: 1, every_ms: 0 })
  for (const step of [1, 2, 3]) await afterStep(every.checkpoints, runAt(step))
  await every.checkpoints.idle
  expect(await every.steps()).toEqual([1, 2, 3])
})

test('what cannot be written is told, and tried again later', async () => {
  const files = memoryFiles()
  let is_full = true
  const { checkpoints, said, clock, steps } = made({
    ...files,
    write: async (...args) => {
      if (is_full) throw new Error('no space left on device')
      await files.write(...args)
    },
  })
  clock.now = 10_000
  await afterStep(checkpoints, runAt(10))
  await checkpoints.idle
  expect(said).toEqual(['no space left on device'])
  is_full = false
  clock.now = 15_000
  await afterStep(checkpoints, runAt(11))
  await checkpoints.idle
  expect(await steps()).toEqual([])
  clock.now = 20_000
  await afterStep(checkpoints, runAt(12))
  await checkpoints.idle
  expect(await steps()).toEqual([12])
})

test('a state that is not finite is not written, and it is known where it broke', async () => {
  const { checkpoints, steps } = made(memoryFiles(), { every_steps: 1, every_ms: 0 })
  await afterStep(checkpoints, runAt(1))
  await checkpoints.idle
  expect(checkpoints.unsound).toBeUndefined()
  const broken = runAt(2)
  const state = await broken.exportState()
  state.trainer.actor.adam_v.fill(Number.POSITIVE_INFINITY, 5, 6)
  await finish(checkpoints, { step: 2, exportState: async () => state })
  expect(await steps()).toEqual([1])
  expect(checkpoints.unsound).toEqual({
    step: 2,
    part: { model: 'actor', part: 'adam_v', parameter: 'model.embed_tokens.weight' },
  })
})

test('where steps alone say when, a failure is told once and tried again after as many steps', async () => {
  const files = memoryFiles()
  let writes = 0
  const own = made(
    {
      ...files,
      write: async () => {
        writes++
        throw new Error('EIO')
      },
    },
    { every_steps: 5, every_ms: 0 },
  )
  for (let step = 1; step <= 20; step++) {
    await afterStep(own.checkpoints, runAt(step))
    await own.checkpoints.idle
  }
  expect(writes).toBe(4)
  await finish(own.checkpoints, runAt(20))
  expect(writes).toBe(5)
  expect(own.said).toEqual(['EIO'])
  expect(own.checkpoints.problem).toBe('EIO')
})

test('on a full disk older checkpoints make room, and the newest stays until another is whole', async () => {
  const files = memoryFiles()
  const room = 3
  const kept: number[][] = []
  const own = made(
    {
      ...files,
      write: async (record, step, bytes) => {
        const held = await files.list(record)
        kept.push(held.map((entry) => entry.step))
        if (held.length >= room || step === 6)
          throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
        await files.write(record, step, bytes)
      },
    },
    { every_steps: 1, every_ms: 0 },
  )
  for (let step = 1; step <= 5; step++) await afterStep(own.checkpoints, runAt(step))
  await own.checkpoints.idle
  expect(own.said).toEqual([])
  expect((await own.steps()).slice(-2)).toEqual([4, 5])
  expect(await own.steps()).toHaveLength(room)
  await afterStep(own.checkpoints, runAt(6))
  await own.checkpoints.idle
  // One that never fits does not cost the last.
  expect(await own.steps()).toEqual([5])
  expect(own.said).toEqual(['ENOSPC'])
})

test('a step that turns out broken leaves nothing behind, and the next one is due', async () => {
  const { checkpoints, clock, steps } = made(memoryFiles())
  clock.now = 10_000
  expect(checkpoints.isDue(10)).toBe(true)
  checkpoints.take(10, 0, runAt(10).exportState)
  checkpoints.drop()
  checkpoints.landed(10)
  await checkpoints.idle
  expect(await steps()).toEqual([])
  expect(checkpoints.isDue(11)).toBe(true)
})

test('without files the last state is looked at all the same', async () => {
  const keeper = new Checkpointer()
  expect(keeper.isDue(99)).toBe(false)
  const state = await runAt(4).exportState()
  state.trainer.actor.weights.fill(Number.NaN, 0, 1)
  await finish(keeper, { step: 4, exportState: async () => state })
  expect(keeper.unsound?.step).toBe(4)
  const lost = new Checkpointer()
  const gone = Promise.reject(new Error('the device is lost'))
  await expect(finish(lost, runAt(4, gone))).rejects.toThrow('the device is lost')
})
