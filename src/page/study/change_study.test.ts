// What a study that has known runs may be changed in: an arm that is taken out comes back by undo,
// and a study of the lab is changed in a copy.
import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest'
import { withoutArm } from '../../document/study/build.ts'
import { exploratoryWords } from '../../document/study/changes.ts'
import { plannedRuns } from '../../document/study/queue.ts'
import type { Study } from '../../document/study/study.ts'
import { decodeStudy } from '../../document/study/study_link.ts'
import { armsOf, DOCUMENT, madeUpResult, studyOf } from '../../document/study/testing.ts'
import gallery from './gallery.json' with { type: 'json' }
import { isOfLab, recordedResults } from './recorded.ts'
import { memoryStudies } from './study_storage.ts'

const fromDisk = async (address: string) => readFileSync(`.${address.split('?')[0]}`, 'utf8')
const recorded = (id: string) => recordedResults(id, fromDisk)

function labStudy(id: string): Study {
  const parsed = decodeStudy(gallery.find((entry) => entry.id === id)?.study ?? '')
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return parsed.study
}

/** A page of its own: files of one worker share their modules. */
async function freshPage(kept = memoryStudies()) {
  vi.stubGlobal('navigator', {})
  vi.resetModules()
  const page = { ...(await import('./study_store.ts')), ...(await import('./study_state.ts')) }
  await page.openStudy(async () => kept)
  return { ...page, kept }
}

beforeEach(() => vi.stubGlobal('localStorage', { setItem: () => {}, removeItem: () => {} }))
afterEach(() => void vi.unstubAllGlobals())
afterAll(() => void vi.resetModules())

test('an arm that is taken out makes the study exploratory, and undo brings back both', async () => {
  const page = await freshPage()
  const third = { name: 'third', set: { 'actor.optim.lr': 0.002 } }
  const document = { ...DOCUMENT, arms: [...DOCUMENT.arms, third] }
  const [study, arms] = [studyOf(document), armsOf(document)]
  const results = plannedRuns(study, arms).map((run) => madeUpResult(study, run, 0.7))
  page.setStudy(study)
  page.studyStore.setState({ results })
  // All others are compared with it.
  expect(withoutArm(study, arms, 'slow')).toBeUndefined()
  page.takeOutArm('third', withoutArm(study, arms, 'third') ?? study)
  const { changes, without, arms: left } = page.studyStore.getState()
  expect(left.map(({ name }) => name)).toEqual(['slow', 'fast'])
  expect(changes).toEqual([
    'The study’s arms changed after 12 runs were known, so its result is exploratory.',
  ])
  expect(exploratoryWords(changes)).toMatch(/^Exploratory/)
  expect(without?.arm).toBe('third')

  page.undoTakeOut()
  const after = page.studyStore.getState()
  expect(after.study).toEqual(study)
  expect([after.changes, after.without, after.arms.length]).toEqual([[], undefined, 3])
  expect(exploratoryWords(after.changes)).toBe('')
})

test('a copy of a lab’s study has a name of its own, and the study stays nobody’s own', async () => {
  const page = await freshPage()
  const id = 'which_layer_sort_arithmetic'
  const study = labStudy(id)
  await page.openLabStudy(study, recorded)
  page.copyStudy()
  const copied = page.studyStore.getState()
  expect(copied.study?.name).toBe(`${study.name} (copy)`)
  expect(isOfLab({ study: copied.study as Study, recorded: copied.recorded })).toBe(false)
  const rest = withoutArm(copied.study as Study, copied.arms, 'layer 4 alone') as Study
  page.takeOutArm('layer 4 alone', rest)
  // Its runs are those that came with the lab, and no others.
  expect(page.analysisOf(page.studyStore.getState())?.analysis).toMatchObject({ leftOver: 0 })

  // Opened again, also by a page that has forgotten that it was open.
  page.studyStore.setState(({ others }) => ({
    others: others.filter((kept) => kept.study.name !== study.name),
  }))
  await page.openLabStudy(study, recorded)
  expect(page.studyStore.getState().recorded?.fingerprints).toHaveLength(25)
  page.closeStudy()
  const { others } = page.studyStore.getState()
  expect(others.map((kept) => isOfLab(kept))).toEqual([true, false])
  await page.openLabStudy(study, recorded)
  page.copyStudy()
  expect(page.studyStore.getState().study?.name).toBe(`${study.name} (copy 2)`)
})

test('runs of other studies are none that this one has left out', async () => {
  const page = await freshPage()
  await page.openLabStudy(labStudy('which_layer_sort_arithmetic'), recorded)
  const [study, arms] = [studyOf(), armsOf()]
  page.setStudy(study)
  const own = plannedRuns(study, arms).map((run) => madeUpResult(study, run, 0.7))
  page.studyStore.setState(({ results }) => ({ results: [...results, ...own] }))
  const { analysis } = page.analysisOf(page.studyStore.getState()) ?? {}
  expect([analysis?.runs.length, analysis?.leftOver]).toEqual([8, 0])
})

test('a study with another question is the same study, says so, and keeps its runs', async () => {
  const page = await freshPage()
  page.setStudy(studyOf())
  const { id, study } = page.studyStore.getState()
  const [run] = plannedRuns(studyOf(), armsOf())
  page.studyStore.setState({ results: [madeUpResult(studyOf(), run, 0.7)] })
  page.changeStudy({ ...studyOf(), question: 'Another one?', seeds: [1, 2, 3, 4, 5] })
  const now = page.studyStore.getState()
  expect([now.id, now.others]).toEqual([id, []])
  expect(now.study?.question).not.toBe(study?.question)
  expect(exploratoryWords(now.changes)).not.toBe('')
  expect(now.results).toHaveLength(1)
})
