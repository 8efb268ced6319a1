// The keeper of checkpoints over every place where they lie: one test of each thing for the page
// and for the command line.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CheckpointFiles, SteeredState } from '../../host/checkpoints/file/checkpoint.ts'
import { decodeCheckpoint, encodeCheckpoint } from '../../host/checkpoints/file/checkpoint_file.ts'
import { HistoryLog } from '../../host/checkpoints/history.ts'
import { CheckpointKeeper, type KeeperHost } from '../../host/checkpoints/keeper.ts'
import { DEFAULT_BUDGET_BYTES } from '../../host/checkpoints/schedule.ts'
import { madeState, tinyExperiment } from '../../host/checkpoints/testing.ts'
import type { LabEvent } from '../../host/protocol/protocol.ts'
import { PLACES } from './testing.ts'

const EXPERIMENT = tinyExperiment({
  phases: [
    { kind: 'rl', steps: 99 },
    { kind: 'rl', steps: 99 },
  ],
})
const MADE_ON = { understory: '1', adapter: 'x', kernels: '' }
const BY_CLOCK = { every_steps: 10, every_ms: 10_000, budget_bytes: DEFAULT_BUDGET_BYTES }

/** A run that is at a step, whose state may take its time. */
function runAt(step: number, until: Promise<unknown> = Promise.resolve(), phase = 0) {
  const state: SteeredState = {
    trainer: madeState(EXPERIMENT, step, phase),
    experiment: EXPERIMENT,
    document: EXPERIMENT,
    done: 0,
  }
  return { step, phase, exportState: () => until.then(() => state) }
}

type RunAt = ReturnType<typeof runAt>

/** What the loop does after a step was queued, and when it lands. */
async function afterStep(keeper: CheckpointKeeper, { step, exportState }: RunAt) {
  if (!keeper.isDue(step)) return
  if (keeper.isPatient) await keeper.idle
  keeper.take(step, exportState)
  keeper.landed(step)
}

/** What the loop does at the end of a run. */
async function finish(keeper: CheckpointKeeper, { step, exportState }: RunAt) {
  await keeper.idle
  if (keeper.staleIn(step, '', true) !== undefined) keeper.take(step, exportState)
  keeper.landed(step)
  await keeper.looked()
  await keeper.idle
}

function keeperOf(files: CheckpointFiles | undefined, others: Partial<KeeperHost> = {}) {
  const events: LabEvent[] = []
  const clock = { now: 0 }
  const log = new HistoryLog()
  const keeper = new CheckpointKeeper({
    run: 1,
    record: 'run',
    settings: BY_CLOCK,
    storage: files && { files: async () => files, encode: encodeCheckpoint },
    history: () => log.history,
    facts: () => ({ record: 'run', made_on: MADE_ON }),
    post: (event) => events.push(event),
    now: () => clock.now,
    ...others,
  })
  const steps = async () => ((await files?.list('run')) ?? []).map(({ step }) => step)
  const problems = () =>
    events.flatMap((e) => (e.type === 'checkpoint_problem' ? [[e.code, e.message]] : []))
  return { keeper, clock, log, steps, problems, events }
}

/** As `--checkpoint-every N`. */
const everySteps = (every_steps: number) => ({
  isPatient: true,
  settings: { every_steps, every_ms: 0, budget_bytes: DEFAULT_BUDGET_BYTES },
})

const failing = (files: CheckpointFiles, write: CheckpointFiles['write']) => ({ ...files, write })

describe.each(Object.keys(PLACES))('%s', (name) => {
  let place: ReturnType<(typeof PLACES)[string]>
  let files: CheckpointFiles
  beforeEach(() => {
    place = PLACES[name]()
    files = place.files
  })
  afterEach(() => place.close())

  test('one is written when steps and time have passed, with the record up to its step', async () => {
    const { keeper, clock, log, steps } = keeperOf(files)
    for (let step = 0; step <= 25; step++) log.add({ type: 'step', step, metrics: { loss: step } })
    clock.now = 9000
    await afterStep(keeper, runAt(10))
    clock.now = 10_000
    await afterStep(keeper, runAt(15))
    await keeper.idle
    clock.now = 60_000
    await afterStep(keeper, runAt(24))
    await keeper.idle
    expect(await steps()).toEqual([15])
    await finish(keeper, runAt(24))
    await finish(keeper, runAt(24))
    expect(await steps()).toEqual([15, 24])
    const bytes = (await files.read('run', 15)) ?? new Uint8Array()
    const { run, history } = await decodeCheckpoint(bytes, 'x')
    expect(run.trainer.step).toBe(15)
    expect(history.series.get('loss')?.length).toBe(16)
  })

  test('where steps alone say when, every one is written, also while another is under way', async () => {
    const { keeper, steps } = keeperOf(files, everySteps(1))
    for (const step of [1, 2, 3]) await afterStep(keeper, runAt(step))
    await keeper.idle
    expect(await steps()).toEqual([1, 2, 3])
  })

  test('where there is no room older ones make some, and the newest stays until another is whole', async () => {
    const { keeper, steps, problems } = keeperOf(files, everySteps(1))
    await afterStep(keeper, runAt(1))
    await keeper.idle
    const [{ bytes }] = await files.list('run')
    place.limit(3.5 * bytes)
    for (const step of [2, 3, 4, 5]) await afterStep(keeper, runAt(step))
    await keeper.idle
    expect(problems()).toEqual([])
    expect((await steps()).slice(-2)).toEqual([4, 5])
    expect(await steps()).toHaveLength(3)
    place.limit(bytes / 2)
    await afterStep(keeper, runAt(6))
    await keeper.idle
    // One that never fits does not cost the last.
    expect(await steps()).toEqual([5])
    expect(problems()).toMatchObject([['full', expect.stringMatching(/no room|had room|no space/)]])
  })

  test('more than the budget is not kept', async () => {
    const first = keeperOf(files, everySteps(1))
    await afterStep(first.keeper, runAt(1))
    await first.keeper.idle
    const [{ bytes }] = await files.list('run')
    const { settings, ...rest } = everySteps(1)
    const budget = { ...settings, budget_bytes: 3.5 * bytes }
    const { keeper, steps } = keeperOf(files, { ...rest, settings: budget })
    for (const step of [2, 3, 4, 5, 6]) await afterStep(keeper, runAt(step))
    await keeper.idle
    expect(await steps()).toHaveLength(3)
    expect((await steps()).slice(-2)).toEqual([5, 6])
  })

  test('a failed write is reported and tried again later', async () => {
    let isFull = true
    const flaky = failing(files, async (...args) => {
      if (isFull) throw new Error('no such luck')
      await files.write(...args)
    })
    const { keeper, problems, clock, steps } = keeperOf(flaky)
    clock.now = 10_000
    await afterStep(keeper, runAt(10))
    await keeper.idle
    expect(problems()).toEqual([['other', 'no such luck']])
    isFull = false
    clock.now = 15_000
    await afterStep(keeper, runAt(11))
    await keeper.idle
    expect(await steps()).toEqual([])
    clock.now = 20_000
    await afterStep(keeper, runAt(12))
    await keeper.idle
    expect(await steps()).toEqual([12])
  })
})

test('a step does not wait for one that is under way', async () => {
  let release = () => {}
  const slow = new Promise<void>((resolve) => {
    release = resolve
  })
  const { keeper, clock, steps } = keeperOf(PLACES.memory().files)
  clock.now = 20_000
  await afterStep(keeper, runAt(10, slow))
  clock.now = 40_000
  await afterStep(keeper, runAt(20))
  release()
  await keeper.idle
  expect(await steps()).toEqual([10])
})

test('the state at the end of a phase is always kept, and steps are counted on as if it had not been', async () => {
  const { keeper, steps, clock } = keeperOf(PLACES.memory().files)
  expect(keeper.isDueAtEnd(0)).toBe(false)
  clock.now = 5
  for (const step of [3, 4]) {
    expect(keeper.isDue(step)).toBe(false)
    expect(keeper.isDueAtEnd(step)).toBe(true)
    keeper.take(step, runAt(step).exportState, '', true)
    // It is kept once.
    expect(keeper.isDueAtEnd(step)).toBe(false)
    keeper.landed(step)
    await keeper.idle
  }
  expect(await steps()).toEqual([3, 4])

  const every = keeperOf(PLACES.memory().files, everySteps(5))
  every.keeper.take(3, runAt(3).exportState, '', true)
  every.keeper.landed(3)
  for (const step of [4, 5, 6]) await afterStep(every.keeper, runAt(step))
  await every.keeper.idle
  expect(await every.steps()).toEqual([3, 5])
  expect(keeperOf(undefined, { settings: undefined }).keeper.isDueAtEnd(3)).toBe(false)
})

test('a state that is not finite is not written, and it is known where it broke', async () => {
  const { keeper, steps } = keeperOf(PLACES.memory().files, everySteps(1))
  await afterStep(keeper, runAt(1))
  await keeper.idle
  expect(keeper.unsound).toBeUndefined()
  const broken = runAt(2)
  const state = await broken.exportState()
  state.trainer.actor.adam_v.fill(Number.POSITIVE_INFINITY, 5, 6)
  await finish(keeper, { ...broken, exportState: async () => state })
  expect(await steps()).toEqual([1])
  expect(keeper.unsound).toEqual({
    step: 2,
    part: { model: 'actor', part: 'adam_v', parameter: 'model.embed_tokens.weight' },
  })
})

test('with a schedule by steps a failure is reported once, and the next try comes after as many steps', async () => {
  let writes = 0
  const broken = failing(PLACES.memory().files, async () => {
    writes++
    throw new Error('EIO')
  })
  const { keeper, problems } = keeperOf(broken, everySteps(5))
  for (let step = 1; step <= 20; step++) {
    await afterStep(keeper, runAt(step))
    await keeper.idle
  }
  expect(writes).toBe(4)
  // The last state is tried once more.
  await finish(keeper, runAt(20))
  expect(writes).toBe(5)
  expect(problems()).toEqual([['other', 'EIO']])
})

test('what a checkpoint counts on is on the disk before it, or there is none', async () => {
  const { files } = PLACES.memory()
  const said: string[] = []
  const spied = failing(files, async (...args) => {
    said.push('write')
    await files.write(...args)
  })
  let isBroken = false
  const sync = () => {
    said.push('sync')
    if (isBroken) throw new Error('EIO')
  }
  const storage = { files: async () => spied, encode: encodeCheckpoint, sync }
  const { keeper, problems } = keeperOf(files, { ...everySteps(1), storage })
  await finish(keeper, runAt(1))
  isBroken = true
  await finish(keeper, runAt(2))
  expect(said).toEqual(['sync', 'write', 'sync'])
  expect(problems()).toEqual([['other', 'EIO']])
})

test('a step that turns out broken leaves nothing behind, and the next one is due', async () => {
  const { keeper, clock, steps } = keeperOf(PLACES.memory().files)
  clock.now = 10_000
  expect(keeper.isDue(10)).toBe(true)
  keeper.take(10, runAt(10).exportState)
  keeper.drop()
  keeper.landed(10)
  await keeper.idle
  expect(await steps()).toEqual([])
  expect(keeper.isDue(11)).toBe(true)
})

test('without files the last state is looked at all the same', async () => {
  const { keeper } = keeperOf(undefined, { settings: undefined })
  expect(keeper.isDue(99)).toBe(false)
  const broken = runAt(4)
  const state = await broken.exportState()
  state.trainer.actor.weights.fill(Number.NaN, 0, 1)
  await finish(keeper, { ...broken, exportState: async () => state })
  expect(keeper.unsound?.step).toBe(4)
  const lost = keeperOf(undefined, { settings: undefined })
  const gone = Promise.reject(new Error('the device is lost'))
  await expect(finish(lost.keeper, runAt(4, gone))).rejects.toThrow('the device is lost')
})
