// The .zip of a report opens as the study with its results, marked as made elsewhere.
import { strToU8, zipSync } from 'fflate'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { plannedRuns } from '../../document/study/queue.ts'
import type { Study } from '../../document/study/study.ts'
import { armsOf, DOCUMENT, madeUpResult, studyOf } from '../../document/study/testing.ts'
import { isOfLab } from './recorded.ts'
import { readStudyFile } from './study_file.ts'
import { memoryStudies } from './study_storage.ts'

const [study, arms] = [studyOf(DOCUMENT), armsOf(DOCUMENT)]
const results = plannedRuns(study, arms).map((run) => madeUpResult(study, run, 0.7))
const lines = results.map((result) => `${JSON.stringify(result)}\n`).join('')

const zipped = (files: Readonly<Record<string, string>>, folder = 'study/') =>
  new Blob([
    zipSync(
      Object.fromEntries(
        Object.entries(files).map(([name, text]) => [`${folder}${name}`, strToU8(text)]),
      ),
    ),
  ])

afterEach(() => void vi.unstubAllGlobals())
afterAll(() => void vi.resetModules())

test('a document, a .zip with results, results alone and junk are told apart', async () => {
  const files = { 'study.json': JSON.stringify(study), 'results.jsonl': lines, 'report.md': '# A' }
  for (const folder of ['study/', ''])
    expect(await readStudyFile(zipped(files, folder))).toEqual({ document: study, results })
  const { document, results: none } = await readStudyFile(new Blob([files['study.json']]))
  expect([document, none]).toEqual([study, []])
  expect(await readStudyFile(new Blob([lines]))).toMatchObject({ isOfResults: true })
  // A line that is no result is left out, and a file that is cut off is no study.
  const spoilt = zipped({ ...files, 'results.jsonl': `${lines}{"format":1}\nnot\n` })
  expect((await readStudyFile(spoilt)).results).toHaveLength(results.length)
  for (const junk of [new Blob(['not']), zipped({ 'a.txt': '1' }), zipped(files).slice(0, 300)])
    expect(await readStudyFile(junk)).toMatchObject({ document: undefined, results: [] })
})

test('runs that came with a file give the verdict, are kept as such, and stand behind own ones', async () => {
  vi.stubGlobal('navigator', {})
  vi.stubGlobal('localStorage', { setItem: () => {}, removeItem: () => {} })
  vi.resetModules()
  const page = { ...(await import('./study_store.ts')), ...(await import('./study_state.ts')) }
  const kept = memoryStudies()
  await page.openStudy(async () => kept)
  page.setStudy(study)
  const [own] = plannedRuns(study, arms)
  const trained = madeUpResult(study, own, 0.2)
  page.studyStore.setState({ results: [trained] })
  const foreign = { ...results[0], fingerprint: 'of another study' }
  await page.openStudyFile(study, 'Two rates.zip', [...results, foreign])
  const now = page.studyStore.getState()
  expect(page.analysisOf(now)?.analysis.runs).toHaveLength(results.length)
  expect(now.results).toContain(trained)
  expect(now.recorded).toEqual({
    adapter: results[0].adapter,
    file: 'Two rates.zip',
    fingerprints: results.slice(1).map(({ fingerprint }) => fingerprint),
  })
  expect(isOfLab({ study: now.study as Study, recorded: now.recorded })).toBe(false)
  await vi.waitFor(async () => expect((await kept.read()).results).toHaveLength(7))
  // Without results that is said.
  await page.openLabStudy({ ...study, name: 'Another', question: 'Another?' })
  expect(page.studyStore.getState().isPlanAlone).toBe(true)
  page.closeStudy()
  expect(page.studyStore.getState().isPlanAlone).toBe(false)
})
