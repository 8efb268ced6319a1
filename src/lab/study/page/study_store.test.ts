// The page's study over a worker that trains nothing: runs go seed by seed, a lost device is tried again, and a reload continues.
import { beforeEach, expect, test, vi } from 'vitest'
import type { LabPort } from '../../page/port.ts'
import type { LabCommand, LabEvent } from '../../protocol/protocol.ts'
import type { RunResult } from '../results.ts'
import { DOCUMENT, studyOf } from '../testing.ts'
import type { KeptStudy, StudyStorage } from './study_storage.ts'

/** What a browser keeps over reloads. */
function storage(): StudyStorage & { kept: KeptStudy | undefined; results: RunResult[] } {
  const own = {
    kept: undefined as KeptStudy | undefined,
    results: [] as RunResult[],
    read: async () => ({ kept: own.kept, results: own.results }),
    write: async (study: KeptStudy) => {
      own.kept = study
    },
    keep: async (result: RunResult) => {
      own.results = [...own.results, result]
    },
    clear: async () => {
      own.kept = undefined
      own.results = []
    },
  }
  return own
}

/** Answers each start as `answer` says: at once, or never. */
function workers(answer: (experiment: string, tries: number) => 'finished' | 'lost' | 'silence') {
  const asked: string[] = []
  const createPort = (): LabPort => {
    let hear: (event: { data: LabEvent }) => void = () => {}
    return {
      addEventListener: (type: string, listener: never) => {
        if (type === 'message') hear = listener
      },
      postMessage: (request: LabCommand) => {
        if (request.type !== 'start') return
        const { name, seed } = request.experiment
        const run = `${name} ${seed}`
        asked.push(run)
        const kind = answer(run, asked.filter((one) => one === run).length)
        const said = (event: object) => queueMicrotask(() => hear({ data: event as LabEvent }))
        if (kind === 'finished') said({ type: 'status', status: 'finished', run: request.run })
        if (kind === 'lost')
          said({ type: 'lost', message: 'The GPU is gone.', is_waiting: true, run: request.run })
      },
      terminate: () => {},
    } as unknown as LabPort
  }
  return { asked, createPort }
}

const study = studyOf({ ...DOCUMENT, seeds: [1, 2] })

/** A page that was just opened. */
async function freshPage() {
  vi.resetModules()
  return import('./study_store.ts')
}

beforeEach(() => vi.stubGlobal('localStorage', { setItem: () => {}, removeItem: () => {} }))

test('a lost device costs a run one try, seeds go round, and all runs are kept', async () => {
  const page = await freshPage()
  const kept = storage()
  const gpu = workers((run, tries) =>
    run === 'Two rates: fast 1' && tries === 1 ? 'lost' : 'finished',
  )
  await page.openStudy(async () => kept, gpu.createPort)
  page.setStudy(study)
  page.trainStudy()
  await vi.waitFor(() => expect(kept.results).toHaveLength(4))
  await vi.waitFor(() => expect(page.studyStore.getState().is_training).toBe(false))
  expect(gpu.asked).toEqual([
    'Two rates: slow 1',
    ...['Two rates: fast 1', 'Two rates: fast 1'],
    'Two rates: slow 2',
    'Two rates: fast 2',
  ])
  // One seed more needs its own runs alone, and one less forgets none.
  page.setStudy({ ...study, seeds: [1, 2, 3] })
  const { arms, results } = page.studyStore.getState()
  expect(page.plan({ ...study, seeds: [1, 2, 3] }, arms, results)?.runs).toHaveLength(2)
  expect(page.plan({ ...study, seeds: [1] }, arms, results)?.runs).toHaveLength(0)
})

test('a device that stays lost ends the training with its reason', async () => {
  const page = await freshPage()
  await page.openStudy(async () => storage(), workers(() => 'lost').createPort)
  page.setStudy(study)
  page.trainStudy()
  await vi.waitFor(() => expect(page.studyStore.getState().problems).toHaveLength(1))
  expect(page.studyStore.getState().problems[0]).toBe('slow, seed 1: The GPU is gone.')
})

test('a page that was closed in the middle of a run goes on with it when it is opened again', async () => {
  const kept = storage()
  const first = await freshPage()
  const before = workers(() => (kept.results.length < 2 ? 'finished' : 'silence'))
  await first.openStudy(async () => kept, before.createPort)
  first.setStudy(study)
  first.trainStudy()
  await vi.waitFor(() => expect(before.asked).toHaveLength(3))

  const again = await freshPage()
  const after = workers(() => 'finished')
  await again.openStudy(async () => kept, after.createPort)
  await vi.waitFor(() => expect(kept.results).toHaveLength(4))
  expect(after.asked).toEqual(['Two rates: slow 2', 'Two rates: fast 2'])
})
