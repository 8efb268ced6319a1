// The lab's own studies open with what was recorded of them: every run of every arm, and the answer
// that the list gives.
import { readFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { analyse } from '../../document/study/analysis.ts'
import { expandStudy } from '../../document/study/arms.ts'
import { answerSentence } from '../../document/study/report/answer.ts'
import { planStudy } from '../../document/study/search.ts'
import type { Study } from '../../document/study/study.ts'
import { decodeStudy } from '../../document/study/study_link.ts'
import gallery from './gallery.json' with { type: 'json' }
import { recordedId, recordedResults } from './recorded.ts'
import { memoryStudies } from './study_storage.ts'

const fromDisk = async (address: string) => readFileSync(`.${address.split('?')[0]}`, 'utf8')

function studyOf(text: string): Study {
  const parsed = decodeStudy(text)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return parsed.study
}

test.each(gallery)(
  '$id opens with the runs of its report, and the answer of the list',
  async (entry) => {
    const study = studyOf(entry.study)
    expect(recordedId(study)).toBe(entry.id)
    const results = await recordedResults(entry.id, fromDisk)
    const expanded = expandStudy(study)
    if (!expanded.ok) throw new Error(expanded.problems.join(' '))
    const { compared } = planStudy(study, expanded.arms, results)
    const analysis = analyse(compared.study, compared.arms, results)
    expect(analysis.arms.length).toBeGreaterThan(1)
    const rows = readFileSync(`docs/studies/${entry.id}/runs.csv`, 'utf8').trimEnd().split('\n')
    expect(analysis.runs).toHaveLength(rows.length - 1)
    expect(answerSentence(compared.study, analysis)).toBe(entry.answer)
  },
)

test('another study has no record, and what cannot be loaded says why', async () => {
  const study = studyOf(gallery[0].study)
  expect(recordedId({ ...study, seeds: [...study.seeds, 99] })).toBeUndefined()
  await expect(recordedResults('nothing', fromDisk)).rejects.toThrow('no record of nothing')
  await expect(
    recordedResults(gallery[0].id, async () => {
      throw new Error('offline')
    }),
  ).rejects.toThrow('could not be loaded: offline')
  await expect(recordedResults(gallery[0].id, async () => '<html>\n')).rejects.toThrow(
    '1 of 1 lines are no runs',
  )
})

test('such a study opens with its runs, keeps them over a reload, and can be trained here all the same', async () => {
  vi.stubGlobal('localStorage', { setItem: () => {}, removeItem: () => {} })
  const kept = memoryStudies()
  // A page of its own: files of one worker share their modules, and a page opens its studies once.
  vi.resetModules()
  const { plan, studyStore } = await import('./study_state.ts')
  const { dropRecorded, openLabStudy, openStudy } = await import('./study_store.ts')
  const { id, study: text } = gallery[gallery.length - 1]
  const study = studyOf(text)
  await openStudy(async () => kept)
  const opening = openLabStudy(study, (id) => recordedResults(id, fromDisk))
  // Until they are there nothing of it waits to be trained.
  expect(studyStore.getState().isLoading).toBe(true)
  await opening
  expect(studyStore.getState().isLoading).toBe(false)
  const known = () => {
    const { study, arms, results } = studyStore.getState()
    return study && plan(study, arms, results)?.known
  }
  expect(known()).toBeGreaterThan(20)
  const { recorded } = studyStore.getState()
  expect(recorded?.adapter).toContain('llvmpipe')
  const stored = await kept.read()
  expect(stored.results.length).toBe(recorded?.fingerprints.length)
  expect(stored.kept[0].recorded).toEqual(recorded)

  await dropRecorded()
  expect(known()).toBe(0)
  expect(studyStore.getState().recorded).toBeUndefined()
  expect((await kept.read()).results).toEqual([])
  expect((await kept.read()).kept[0].study).toEqual(study)
  expect(recordedId(study)).toBe(id)

  // What cannot be loaded is said, and the study can be trained.
  await openLabStudy(study, async () => {
    throw new Error('offline')
  })
  expect(studyStore.getState()).toMatchObject({ problems: ['offline'], study })
  vi.unstubAllGlobals()
})
