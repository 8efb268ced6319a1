// The folder of a study: what a crash cut off is trained again, what was edited is said.
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { plannedRuns } from '../../document/study/queue.ts'
import { planStudy } from '../../document/study/search.ts'
import { armsOf, DOCUMENT, madeUpResult, studyOf } from '../../document/study/testing.ts'
import { StudyFolder } from './study_folder.ts'

const parent = mkdtempSync(join(tmpdir(), 'understory-study-folder-'))
afterEach(() => rmSync(parent, { recursive: true, force: true }))

test('after a crash what is missing is planned alone; an edited study says so, and keeps what it still asks for', () => {
  const out = join(parent, 'out')
  const study = studyOf()
  const folder = StudyFolder.open(out, study, false)
  const runs = plannedRuns(study, armsOf())
  for (const run of runs.slice(0, 3)) folder.keep(madeUpResult(study, run, 0.8))
  // A crash in the middle of a line.
  appendFileSync(join(out, 'results.jsonl'), '{"format":1,"arm":"fa')
  expect(() => StudyFolder.open(out, study, false)).toThrow(/--resume/)
  const again = StudyFolder.open(out, study, true)
  expect(again.changes).toEqual([])
  expect(again.results()).toHaveLength(3)
  expect(planStudy(study, armsOf(), again.results()).runs).toHaveLength(5)
  again.keep(madeUpResult(study, runs[3], 0.8))
  expect(again.results()).toHaveLength(4)

  const edited = {
    ...DOCUMENT,
    arms: [DOCUMENT.arms[0], { name: 'fast', set: { 'actor.optim.lr': 0.002 } }],
  }
  const other = StudyFolder.open(out, studyOf(edited), true)
  expect(other.changes).toHaveLength(1)
  expect(planStudy(studyOf(edited), armsOf(edited), other.results()).runs).toHaveLength(6)
  // Its runs lie beside those of the arm of that name before.
  expect(other.runFolder(plannedRuns(study, armsOf(edited))[1])).not.toBe(other.runFolder(runs[1]))
  expect(readFileSync(join(out, 'study.json'), 'utf8')).toContain('0.002')
})

test('a folder whose study cannot be read is taken for another one', () => {
  const out = join(parent, 'out')
  StudyFolder.open(out, studyOf(), false)
  writeFileSync(join(out, 'study.json'), '{"study":{}}')
  expect(StudyFolder.open(out, studyOf(), true).changes).toEqual([])
})
