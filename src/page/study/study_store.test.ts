// The page's study over a worker that trains nothing: runs go seed by seed, a lost device is tried
// again, and a reload continues.
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { RunResult } from '../../document/study/results.ts'
import { DOCUMENT, studyOf } from '../../document/study/testing.ts'
import type { LabCommand, LabEvent } from '../../host/protocol/protocol.ts'
import type { LabPort } from '../connection/port.ts'
import { type KeptStudy, memoryStudies } from './study_storage.ts'

/** What a browser keeps over reloads. */
function storage() {
  const own = memoryStudies()
  let kept: KeptStudy[] = []
  let results: RunResult[] = []
  const look = async () => {
    const read = await own.read()
    kept = [...read.kept]
    results = [...read.results]
  }
  return {
    get kept(): KeptStudy | undefined {
      return kept.find(({ is_open }) => is_open)
    },
    get all(): readonly KeptStudy[] {
      return kept
    },
    get results(): readonly RunResult[] {
      return results
    },
    read: own.read,
    write: (study: KeptStudy) => own.write(study).then(look),
    keep: (result: RunResult) => own.keep(result).then(look),
    remove: (id: string, runs: readonly string[]) => own.remove(id, runs).then(look),
  }
}

type Answer = 'finished' | 'lost' | 'silence'
type Said = (event: object) => void

/** Answers each start as `answer` says: at once, or never. `say` of a run posts something in its
 * name. */
function workers(answer: (run: string, tries: number) => Answer, takes = 1) {
  const asked: string[] = []
  const say = new Map<string, Said>()
  const createPort = (): LabPort => {
    let hear: (event: { data: LabEvent }) => void = () => {}
    return {
      addEventListener: (type: string, listener: never) => {
        if (type === 'message') hear = listener
      },
      postMessage: (request: LabCommand) => {
        const answered = (data: object) => queueMicrotask(() => hear({ data: data as LabEvent }))
        if (request.type === 'open') answered({ type: 'adapter', adapter: { description: 'fake' } })
        if (request.type === 'plan')
          answered({ type: 'plan', id: request.id, bytes: takes, allowed_bytes: 2 ** 30 })
        if (request.type !== 'start') return
        const { name, seed } = request.experiment
        const run = `${name} ${seed}`.replace('Two rates: ', '')
        asked.push(run)
        const own: Said = (event) =>
          queueMicrotask(() => hear({ data: { ...event, run: request.run } as LabEvent }))
        say.set(run, own)
        const kind = answer(run, asked.filter((one) => one === run).length)
        if (kind === 'finished') own({ type: 'status', status: 'finished' })
        if (kind === 'lost') own({ type: 'lost', message: 'The GPU is gone.', is_waiting: true })
      },
      terminate: () => {},
    } as unknown as LabPort
  }
  return { asked, say, createPort }
}

const study = studyOf({ ...DOCUMENT, seeds: [1, 2] })

/** A page that was just opened. */
async function freshPage() {
  // A page that is closed gives its locks back; one that this process has only forgotten does not.
  vi.stubGlobal('navigator', {})
  vi.resetModules()
  return { ...(await import('./study_store.ts')), ...(await import('./study_state.ts')) }
}

beforeEach(() => vi.stubGlobal('localStorage', { setItem: () => {}, removeItem: () => {} }))
afterEach(() => void vi.unstubAllGlobals())
// The next file of this worker gets modules without our state.
afterAll(() => void vi.resetModules())

test('a lost device costs the runs at once one try, seeds go round, and all runs are kept', async () => {
  const page = await freshPage()
  const kept = storage()
  const gpu = workers((run, tries) => (run === 'fast 1' && tries === 1 ? 'lost' : 'finished'))
  await page.openStudy(async () => kept, gpu.createPort)
  page.setStudy(study)
  page.setAtOnce(1)
  page.trainStudy()
  await vi.waitFor(() => expect(kept.results).toHaveLength(4))
  await vi.waitFor(() => expect(page.studyStore.getState().is_training).toBe(false))
  expect(gpu.asked).toEqual(['slow 1', 'fast 1', 'fast 1', 'slow 2', 'fast 2'])
  // One seed more needs its own runs alone, and one less forgets none.
  page.setStudy({ ...study, seeds: [1, 2, 3] })
  const { arms, results } = page.studyStore.getState()
  expect(page.plan({ ...study, seeds: [1, 2, 3] }, arms, results)?.runs).toHaveLength(2)
  expect(page.plan({ ...study, seeds: [1] }, arms, results)?.runs).toHaveLength(0)
})

test('so many runs are at once as was chosen, the first come first, and each says how far it is', async () => {
  const page = await freshPage()
  const kept = storage()
  const gpu = workers(() => 'silence')
  await page.openStudy(async () => kept, gpu.createPort)
  page.setStudy(study)
  page.setAtOnce(2)
  page.trainStudy()
  await vi.waitFor(() => expect(gpu.asked).toEqual(['slow 1', 'fast 1']))
  gpu.say.get('slow 1')?.({ type: 'step', step: 5, phase: 0, metrics: {} })
  gpu.say.get('fast 1')?.({ type: 'waits' })
  const present = () => page.studyStore.getState().present
  await vi.waitFor(() =>
    expect(present()).toEqual([
      { name: 'slow, seed 1', of: 30, step: 5, waits: false },
      { name: 'fast, seed 1', of: 30, step: 0, waits: true },
    ]),
  )
  gpu.say.get('fast 1')?.({ type: 'status', status: 'finished' })
  await vi.waitFor(() => expect(gpu.asked).toEqual(['slow 1', 'fast 1', 'slow 2']))
  const message = 'Preparing: 5 parts ready'
  gpu.say.get('slow 2')?.({ type: 'progress', message })
  await vi.waitFor(() => expect(present().at(-1)).toMatchObject({ step: 0, message }))
  expect(kept.kept).toMatchObject({ at_once: 2, is_training: true })
  // A seed less while it trains: what is left of it is trained on.
  page.setStudy({ ...study, seeds: [1] })
  gpu.say.get('slow 1')?.({ type: 'status', status: 'paused' })
  gpu.say.get('slow 1')?.({ type: 'checkpoint', step: 5 })
  await vi.waitFor(() => expect(gpu.asked.slice(3)).toEqual(['slow 1']))
  gpu.say.get('slow 1')?.({ type: 'status', status: 'finished' })
  await vi.waitFor(() => expect(page.studyStore.getState().is_training).toBe(false))
  expect(kept.results.map(({ arm, seed }) => `${arm} ${seed}`)).toEqual(['fast 1', 'slow 1'])
})

test('arms that say the same are trained once', async () => {
  const page = await freshPage()
  const kept = storage()
  const gpu = workers(() => 'finished')
  await page.openStudy(async () => kept, gpu.createPort)
  page.setStudy(studyOf({ ...DOCUMENT, arms: [{ name: 'one' }, { name: 'two' }], seeds: [1] }))
  page.trainStudy()
  await vi.waitFor(() => expect(kept.results).toHaveLength(1))
  await vi.waitFor(() => expect(page.studyStore.getState().is_training).toBe(false))
  expect(gpu.asked).toEqual(['one 1'])
})

test('a run that breaks is kept as failed, and the others train on', async () => {
  const page = await freshPage()
  const kept = storage()
  const gpu = workers((run) => (run === 'fast 1' ? 'silence' : 'finished'))
  await page.openStudy(async () => kept, gpu.createPort)
  page.setStudy(study)
  page.trainStudy()
  await vi.waitFor(() => expect(kept.results).toHaveLength(3))
  gpu.say.get('fast 1')?.({ type: 'guarded', step: 3, broken: [] })
  await vi.waitFor(() => expect(kept.results.at(-1)).toMatchObject({ status: 'failed', seed: 1 }))
})

test('arms that cannot run here are named before anything is trained', async () => {
  const page = await freshPage()
  const gpu = workers(() => 'finished', 3 * 2 ** 30)
  await page.openStudy(async () => storage(), gpu.createPort)
  page.setStudy(study)
  page.trainStudy()
  await vi.waitFor(() => expect(page.studyStore.getState().is_training).toBe(false))
  expect(page.studyStore.getState().problems).toEqual([
    expect.stringMatching(/^slow: it would take 3.00 GiB of GPU memory/),
    expect.stringMatching(/^fast: /),
  ])
  expect(gpu.asked).toEqual([])
})

test('a study that measures states of runs, or continues others, is for the command line, and trains nothing', async () => {
  const page = await freshPage()
  const gpu = workers(() => 'finished')
  await page.openStudy(async () => storage(), gpu.createPort)
  const inside = { of: ['ablations' as const], problems: 64 }
  for (const more of [{ inside }, { continues: 'runs/other' }]) {
    page.setStudy({ ...study, ...more })
    page.trainStudy()
    await vi.waitFor(() => expect(page.studyStore.getState().problems).toHaveLength(1))
    expect(page.studyStore.getState().problems[0]).toContain('npm run -s lab -- study FILE')
  }
  expect(gpu.asked).toEqual([])
})

test('a worker that hangs is replaced, and its runs are trained by the next', async () => {
  const page = await freshPage()
  const kept = storage()
  const gpu = workers((_, tries) => (tries === 1 ? 'silence' : 'finished'))
  await page.openStudy(async () => kept, gpu.createPort)
  page.setStudy({ ...study, seeds: [1] })
  vi.useFakeTimers()
  try {
    page.trainStudy()
    await vi.advanceTimersByTimeAsync(19_000)
    expect(gpu.asked).toEqual(['slow 1', 'fast 1'])
    await vi.advanceTimersByTimeAsync(3000)
  } finally {
    vi.useRealTimers()
  }
  await vi.waitFor(() => expect(kept.results).toHaveLength(2))
  expect(gpu.asked).toEqual(['slow 1', 'fast 1', 'slow 1', 'fast 1'])
})

test('a device that stays lost ends the training with its reason', async () => {
  const page = await freshPage()
  await page.openStudy(async () => storage(), workers(() => 'lost').createPort)
  page.setStudy(study)
  page.trainStudy()
  await vi.waitFor(() => expect(page.studyStore.getState().problems).toHaveLength(1))
  expect(page.studyStore.getState().problems[0]).toBe('slow, seed 1: The GPU is gone.')
})

test('a page that is closed in the middle of its runs continues them when it is opened again', async () => {
  const kept = storage()
  const first = await freshPage()
  const before = workers(() => (kept.results.length < 2 ? 'finished' : 'silence'))
  await first.openStudy(async () => kept, before.createPort)
  first.setStudy(study)
  first.setAtOnce(1)
  first.trainStudy()
  await vi.waitFor(() => expect(before.asked).toHaveLength(3))

  const again = await freshPage()
  const after = workers(() => 'finished')
  await again.openStudy(async () => kept, after.createPort)
  await vi.waitFor(() => expect(kept.results).toHaveLength(4))
  expect(after.asked).toEqual(['slow 2', 'fast 2'])
  expect(again.studyStore.getState().at_once).toBe(1)
})

/** A page with two trained studies, of which the second, with a seed more, is open. */
async function twoStudies() {
  const page = await freshPage()
  const kept = storage()
  const gpu = workers(() => 'finished')
  await page.openStudy(async () => kept, gpu.createPort)
  page.setStudy(study)
  page.trainStudy()
  await vi.waitFor(() => expect(page.studyStore.getState().is_training).toBe(false))
  page.setStudy({ ...study, question: 'And with another seed?', seeds: [2, 3] })
  page.trainStudy()
  await vi.waitFor(() => expect(page.studyStore.getState().is_training).toBe(false))
  return { page, kept, gpu }
}

test('a study that is left stays in the list with its runs, over a reload too', async () => {
  const { page, kept } = await twoStudies()
  expect(kept.results).toHaveLength(6)
  expect(kept.all).toHaveLength(2)
  page.closeStudy()
  expect(page.studyStore.getState()).toMatchObject({ study: undefined, others: [{}, {}] })
  await vi.waitFor(() => expect(kept.kept).toBeUndefined())

  const again = await freshPage()
  await again.openStudy(async () => kept, workers(() => 'silence').createPort)
  const { others, results } = again.studyStore.getState()
  expect(others).toHaveLength(2)
  const first = others.find((one) => one.study.question === study.question)
  again.reopenStudy(first?.id ?? '')
  const { arms, others: left } = again.studyStore.getState()
  expect(again.plan(study, arms, results)?.runs).toEqual([])
  expect(left).toHaveLength(1)
  await vi.waitFor(() => expect(kept.kept?.study.question).toBe(study.question))
})

test('a study that is left or stands beside another is trained on, over a reload too', async () => {
  const page = await freshPage()
  const kept = storage()
  const gpu = workers(() => 'silence')
  await page.openStudy(async () => kept, gpu.createPort)
  page.setStudy(study)
  page.setAtOnce(1)
  page.trainStudy()
  await vi.waitFor(() => expect(gpu.asked).toEqual(['slow 1']))
  const { id } = page.studyStore.getState()
  page.closeStudy()
  await vi.waitFor(() => expect(kept.all).toMatchObject([{ is_training: true, is_open: false }]))
  expect(page.studyStore.getState()).toMatchObject({
    is_training: false,
    others: [{ study, is_training: true }],
    present: [{ name: 'slow, seed 1' }],
  })
  // Another one is opened and changed.
  page.setStudy({ ...study, question: 'And with other seeds?', seeds: [5, 6] })
  page.changeStudy({ ...study, question: 'And with other seeds?', seeds: [5] })
  gpu.say.get('slow 1')?.({ type: 'status', status: 'finished' })
  await vi.waitFor(() => expect(gpu.asked).toEqual(['slow 1', 'fast 1']))
  const other = page.studyStore.getState()
  expect([other.is_training, other.trained_at]).toEqual([false, undefined])
  expect(other.others).toMatchObject([{ id, is_training: true, trained_at: expect.any(Number) }])

  const again = await freshPage()
  const after = workers(() => 'silence')
  await again.openStudy(async () => kept, after.createPort)
  await vi.waitFor(() => expect(after.asked).toEqual(['fast 1']))
  // What trains another one in its place pauses it.
  again.trainStudy()
  await vi.waitFor(() => expect(after.asked.at(-1)).toBe('slow 5'))
  const { is_training, others } = again.studyStore.getState()
  expect([is_training, others.map((one) => one.is_training)]).toEqual([true, [false]])
  // Opened while it trains, a study is the one that trains.
  again.reopenStudy(id)
  again.reopenStudy(others.length > 0 ? other.id : '')
  expect(again.studyStore.getState().is_training).toBe(true)
})

test('why a study that was left trains no further is said in the list, and once it is open', async () => {
  const page = await freshPage()
  await page.openStudy(async () => storage(), workers(() => 'lost').createPort)
  page.setStudy(study)
  page.trainStudy()
  const { id } = page.studyStore.getState()
  page.closeStudy()
  const problems = ['slow, seed 1: The GPU is gone.']
  await vi.waitFor(() =>
    expect(page.studyStore.getState().others).toMatchObject([{ is_training: false, problems }]),
  )
  page.reopenStudy(id)
  expect(page.studyStore.getState().problems).toEqual(problems)
})

test('a deleted study can be brought back until the page is left, and takes only runs that no other one has', async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true })
  const { page, kept } = await twoStudies()
  const { id } = page.studyStore.getState()
  await page.deleteStudy(id)
  expect(page.studyStore.getState()).toMatchObject({ study: undefined, others: [{}] })
  expect(kept.results).toHaveLength(6)
  expect(page.studyStore.getState()).toMatchObject({ justDeleted: { id }, deleted: [{ id }] })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(page.studyStore.getState()).toMatchObject({ justDeleted: undefined, deleted: [{ id }] })
  page.undoDeleteStudy(id)
  expect(page.studyStore.getState()).toMatchObject({ others: [{}, {}], deleted: [] })
  expect(kept.results).toHaveLength(6)

  await page.deleteStudy(id)
  await page.commitDeleteStudies()
  expect(kept.all).toHaveLength(1)
  expect(kept.results.map(({ seed }) => seed).sort()).toEqual([1, 1, 2, 2])
  vi.useRealTimers()
})

test('a page that is closed before a deletion is over leaves it to the next one', async () => {
  const { page, kept } = await twoStudies()
  await page.deleteStudy(page.studyStore.getState().id)
  const again = await freshPage()
  await again.openStudy(async () => kept, workers(() => 'silence').createPort)
  expect(kept.all).toHaveLength(1)
  expect(kept.results).toHaveLength(4)
  expect(again.studyStore.getState()).toMatchObject({ others: [{}], deleted: [] })
  // With the last one everything goes.
  await again.deleteStudy(again.studyStore.getState().others[0].id)
  await again.commitDeleteStudies()
  expect([kept.all.length, kept.results.length]).toEqual([0, 0])
})
