// Holds the page's studies: the open one, what is known of it, the loop that trains its runs in the
// background, a few at once, and the others.

import { expandStudy } from '../../document/study/arms.ts'
import { copyOf } from '../../document/study/build.ts'
import { changesOf } from '../../document/study/changes.ts'
import type { RunResult } from '../../document/study/results.ts'
import type { Study } from '../../document/study/study.ts'
import { newWorker } from '../client/browser_page.ts'
import type { LabPort } from '../connection/port.ts'
import { UNDO_MS } from '../runs/library/library.ts'
import { claimRun, releaseRun, withFreeRuns } from '../runs/storage/locks.ts'
import { newStudyId, runsGoing, runsOf, runsToCome } from './kept_studies.ts'
import { markTraining } from './mark_training.ts'
import { recordedId, recordedResults } from './recorded.ts'
import { EMPTY, plan, staying, studyStore } from './study_state.ts'
import { type KeptStudy, openStudies, type StudyStorage } from './study_storage.ts'
import { forgetStates, keptSteps } from './training/run_states.ts'
import { StudyTraining } from './training/study_training.ts'

let storage: StudyStorage | undefined
let createPort: () => LabPort = newWorker
let living: StudyTraining | undefined
let opening: Promise<void> | undefined
/** The runs that were paused last are kept, and their worker is gone. */
let paused: Promise<void> = Promise.resolve()

/** Reads what is kept, once, and continues a study that was being trained when the page was
 * left. */
export function openStudy(
  openStorage: () => Promise<StudyStorage> = openStudies,
  port: () => LabPort = newWorker,
): Promise<void> {
  opening ??= readKept(openStorage, port)
  return opening
}

async function readKept(
  openStorage: () => Promise<StudyStorage>,
  port: () => LabPort,
): Promise<void> {
  createPort = port
  storage = await openStorage()
  const { kept, results } = await storage.read()
  // What the last page deleted and had no time to let go.
  const gone = kept.filter(({ is_deleted }) => is_deleted)
  const there = kept.filter(({ is_deleted }) => !is_deleted)
  const found = there.find(({ is_open }) => is_open)
  const trained = there.find(({ is_training }) => is_training)
  const others = there.filter((one) => one !== found)
  studyStore.setState({ results, others })
  if (found) showKept(found)
  // Before anything is shown: a study that is opened now does not bring back what was deleted.
  for (const one of gone) await letGo(one)
  void readSteps()
  studyStore.setState({ isReady: true })
  if (trained) begin(trained)
}

/** How far runs are that are not on. */
const readSteps = async () => studyStore.setState({ kept_steps: await keptSteps() })

function showKept({ study, changes, problems, ...kept }: KeptStudy): void {
  const { id, recorded, trained_at, is_training, at_once } = kept
  studyStore.setState({ id, recorded, trained_at, is_training, ...(at_once && { at_once }) })
  show(study, changes)
  if (problems?.length) studyStore.setState({ problems })
}

/** Shows a study; false where it cannot be trained, which `problems` then says. */
function show(study: Study, changes: readonly string[]): boolean {
  const expanded = expandStudy(study)
  if (!expanded.ok) {
    studyStore.setState({ study, arms: [], notes: [], changes, problems: expanded.problems })
    return false
  }
  const { arms, notes } = expanded
  studyStore.setState({ study, arms, notes, changes, problems: [] })
  return true
}

/** The open study as it is kept; undefined where none is open. */
function openOne(): KeptStudy | undefined {
  const { id, study, is_training, changes, at_once, recorded, trained_at } = studyStore.getState()
  return study && { id, study, is_open: true, is_training, changes, at_once, recorded, trained_at }
}

function write(): void {
  const kept = openOne()
  markTraining(trainedOne() !== undefined)
  if (kept) void storage?.write(kept)
}

/** The study that is trained now, open or not. */
const trainedOne = (): KeptStudy | undefined =>
  [openOne(), ...studyStore.getState().others].find((one) => one?.is_training)

type Change = Partial<Pick<KeptStudy, 'is_training' | 'trained_at' | 'problems'>>

/** Changes what the page knows of a study, open or not. */
function set(id: string, own: Change): void {
  const { id: open, others } = studyStore.getState()
  if (id === open) studyStore.setState(own)
  else
    studyStore.setState({ others: others.map((one) => (one.id === id ? { ...one, ...own } : one)) })
}

/** Changes it, and keeps that. */
function change(id: string, own: Change): void {
  set(id, own)
  const left = studyStore.getState().others.find((one) => one.id === id)
  if (left) void storage?.write(left)
  write()
}

/** From the next run on so many are trained at once. */
export function setAtOnce(at_once: number): void {
  studyStore.setState({ at_once })
  write()
}

/** Takes a study: the open one changed, or another one, which leaves the open one in the list. Runs
 * that both have count for both. */
export function setStudy(study: Study): boolean {
  const { study: before, others } = studyStore.getState()
  if (before?.name === study.name && before.question === study.question) return changeStudy(study)
  closeStudy()
  const known = others.find((one) => JSON.stringify(one.study) === JSON.stringify(study))
  if (known) return reopenStudy(known.id)
  studyStore.setState({ id: newStudyId() })
  const isSound = show(study, [])
  write()
  return isSound
}

/** Takes the open study changed, which is trained on if it was being trained. */
export function changeStudy(study: Study): boolean {
  const { study: before, results, arms, changes, is_training } = studyStore.getState()
  if (!before) return setStudy(study)
  studyStore.setState({ without: undefined })
  const known = plan(before, arms, results)?.known ?? 0
  if (is_training) pauseStudy()
  const isSound = show(study, [...changes, ...changesOf(before, study, known)])
  write()
  if (isSound && is_training) trainStudy()
  return isSound
}

let withoutTimer: ReturnType<typeof setTimeout> | undefined

/** The open study without one of its arms, as `rest` says; for UNDO_MS it can be brought back. */
export function takeOutArm(arm: string, rest: Study): void {
  const { study, changes } = studyStore.getState()
  if (!study) return
  clearTimeout(withoutTimer)
  setStudy(rest)
  studyStore.setState({ without: { arm, study, changes } })
  withoutTimer = setTimeout(() => studyStore.setState({ without: undefined }), UNDO_MS)
}

/** The arm is back, and what was not changed is not said to be. */
export function undoTakeOut(): void {
  const { without, is_training } = studyStore.getState()
  if (!without) return
  clearTimeout(withoutTimer)
  if (is_training) pauseStudy()
  studyStore.setState({ without: undefined })
  show(without.study, without.changes)
  write()
  if (is_training) trainStudy()
}

/** Leaves the open study as it is, and opens a copy of it, which can be changed. Runs that came
 * with the lab are known as such in both. */
export function copyStudy(): void {
  const { study, recorded, others } = studyStore.getState()
  if (!study) return
  const names = [study, ...others.map((one) => one.study)].map(({ name }) => name)
  setStudy(copyOf(study, names))
  studyStore.setState({ recorded })
  write()
}

/** As setStudy; a study of the lab opens with the runs that were recorded of it, unless some were
 * trained here. */
export async function openLabStudy(study: Study, read?: typeof recordedResults): Promise<void> {
  const id = recordedId(study)
  const isSound = setStudy(study)
  studyStore.setState({ isPlanAlone: id === undefined })
  if (!isSound || id === undefined) return
  const { id: own, arms, results, recorded } = studyStore.getState()
  const known = plan(study, arms, results)?.known ?? 0
  if (known > 0 && recorded) return
  studyStore.setState({ isLoading: known === 0 })
  try {
    const found = await (read ?? recordedResults)(id)
    if (hasOther(found, studyStore.getState().results)) return
    for (const result of found) await storage?.keep(result)
    const adapter = [...new Set(found.map((result) => result.adapter))].join('; ')
    const fingerprints = found.map(({ fingerprint }) => fingerprint)
    const came = new Set(fingerprints)
    const { results, ...now } = studyStore.getState()
    const others = results.filter(({ fingerprint }) => !came.has(fingerprint))
    studyStore.setState({ results: [...others, ...found] })
    // Another one may be open by now.
    if (now.id !== own) return
    studyStore.setState({ recorded: { adapter, fingerprints } })
    write()
  } catch (error) {
    if (studyStore.getState().id === own && known === 0)
      studyStore.setState({ problems: [error instanceof Error ? error.message : String(error)] })
  } finally {
    if (studyStore.getState().id === own) studyStore.setState({ isLoading: false })
  }
}

/** As setStudy, with the runs that came with it in a file; those that are known here stay as they
 * are. */
export async function openStudyFile(
  study: Study,
  file: string,
  found: readonly RunResult[],
): Promise<void> {
  setStudy(study)
  const { results, recorded: before } = studyStore.getState()
  const known = new Set(results.map(({ fingerprint }) => fingerprint))
  const came = runsOf(study, found).filter(({ fingerprint }) => !known.has(fingerprint))
  studyStore.setState({ isPlanAlone: came.length === 0 })
  if (came.length === 0) return
  const adapter = [...new Set(came.map((result) => result.adapter))].join('; ')
  const fingerprints = [...(before?.fingerprints ?? []), ...came.map((one) => one.fingerprint)]
  studyStore.setState({ results: [...results, ...came], recorded: { adapter, file, fingerprints } })
  write()
  for (const result of came) await storage?.keep(result)
}

/** Whether one of these runs has another result here: it was trained here. */
function hasOther(found: readonly RunResult[], results: readonly RunResult[]): boolean {
  const own = new Map(results.map((result) => [result.fingerprint, result]))
  return found.some((result) => {
    const other = own.get(result.fingerprint)
    return other !== undefined && JSON.stringify(other) !== JSON.stringify(result)
  })
}

/** Lets go of the runs that came with the lab, so that all of the open study can be trained
 * here. */
export async function dropRecorded(): Promise<void> {
  const { id, recorded, results, is_training } = studyStore.getState()
  if (!recorded) return
  if (is_training) pauseStudy()
  const gone = new Set(recorded.fingerprints)
  const kept = results.filter(({ fingerprint }) => !gone.has(fingerprint))
  studyStore.setState({ recorded: undefined, results: kept })
  await storage?.remove(id, recorded.fingerprints)
  write()
}

/** Trains the missing runs of the open study until none is missing or `pauseStudy`, in place of
 * another one. */
export function trainStudy(): void {
  const open = openOne()
  if (!open || open.is_training) return
  pauseStudy()
  begin(open)
}

function begin(kept: KeptStudy): void {
  change(kept.id, { is_training: true, problems: [] })
  void train(kept)
}

/** Ends the runs in progress, of whichever study; each is kept as it is, and continued from there
 * later. */
export function pauseStudy(): void {
  const trained = trainedOne()
  const own = living
  living = undefined
  // Where they are until their states are kept; then what is kept says it.
  const kept_steps = new Map([...studyStore.getState().kept_steps, ...(own?.steps ?? [])])
  studyStore.setState({ present: [], kept_steps })
  paused = Promise.all([paused, own?.end()]).then(() => {
    if (!living) releaseRun(LOCK)
    void readSteps()
  })
  if (trained) change(trained.id, { is_training: false })
}

/** Leaves the open study, which stays in the list with its runs; one that is being trained is
 * trained on. */
export function closeStudy(): void {
  const open = openOne()
  if (!open) return
  const left = { ...open, is_open: false }
  void storage?.write(left)
  const { at_once, results, others, present, kept_steps, ...now } = studyStore.getState()
  const { deleted, justDeleted } = now
  const kept = { results, others: [left, ...others], deleted, justDeleted, present, kept_steps }
  studyStore.setState({ ...EMPTY, isReady: true, at_once, ...kept })
}

/** Opens one of the list; false where it cannot be trained, which `problems` then says. */
export function reopenStudy(id: string): boolean {
  closeStudy()
  const { others } = studyStore.getState()
  const found = others.find((one) => one.id === id)
  if (!found) return false
  studyStore.setState({ others: others.filter((one) => one !== found) })
  showKept(found)
  write()
  return studyStore.getState().arms.length > 0
}

let undoTimer: ReturnType<typeof setTimeout> | undefined

/** Takes a study out of the list; it goes for good, with the runs that no other one has, with
 * commitDeleteStudies or the next page. */
export async function deleteStudy(id: string): Promise<void> {
  if (trainedOne()?.id === id) pauseStudy()
  if (studyStore.getState().id === id) closeStudy()
  const { others } = studyStore.getState()
  const found = others.find((one) => one.id === id)
  if (!found) return
  studyStore.setState(({ deleted }) => ({
    others: others.filter((one) => one !== found),
    deleted: [found, ...deleted],
    justDeleted: found,
  }))
  clearTimeout(undoTimer)
  undoTimer = setTimeout(() => studyStore.setState({ justDeleted: undefined }), UNDO_MS)
  await storage?.write({ ...found, is_deleted: true })
}

/** Brings a deleted one back. */
export function undoDeleteStudy(id: string): void {
  const { deleted, others, justDeleted } = studyStore.getState()
  const found = deleted.find((one) => one.id === id)
  if (!found) return
  studyStore.setState({
    deleted: deleted.filter((one) => one !== found),
    justDeleted: justDeleted === found ? undefined : justDeleted,
    others: [found, ...others],
  })
  void storage?.write(found)
}

/** Lets go now of all that are deleted. */
export async function commitDeleteStudies(): Promise<void> {
  const { deleted } = studyStore.getState()
  studyStore.setState({ deleted: [], justDeleted: undefined })
  for (const one of deleted) await letGo(one)
}

/** Removes a study with its runs and their states; one that another tab trains stays until the next
 * page. */
async function letGo({ id, study }: KeptStudy): Promise<void> {
  await withFreeRuns([LOCK], async () => {
    const { results, ...state } = studyStore.getState()
    const going = runsGoing(study, staying(state), results)
    await storage?.remove(
      id,
      going.map(({ fingerprint }) => fingerprint),
    )
    studyStore.setState({ results: results.filter((result) => !going.includes(result)) })
    await forgetDone()
  })
}

/** Removes the states of runs that no study has still to train, nor one that can be brought
 * back. */
async function forgetDone(): Promise<void> {
  const state = studyStore.getState()
  const deleted = state.deleted.map(({ study }) => study)
  const runs = runsToCome([...staying(state), ...deleted], state.results)
  await forgetStates(runs.map(({ experiment }) => experiment))
}

/** Held by the tab that trains the study of this browser. */
const LOCK = 'study'
const OTHER_TAB =
  'Another tab of this browser trains its study. Open this tab again for its results.'

/** Trains what is missing of the study as it is now. */
async function train({ id, study }: KeptStudy): Promise<void> {
  const expanded = expandStudy(study)
  const arms = expanded.ok ? expanded.arms : []
  const own = new StudyTraining({
    study,
    arms,
    createPort,
    missing: () => plan(study, arms, studyStore.getState().results)?.runs ?? [],
    at_once: () => trainedOne()?.at_once ?? EMPTY.at_once,
    keep: async (result) => {
      await storage?.keep(result)
      studyStore.setState(({ results }) => ({ results: [...results, result] }))
      change(id, { trained_at: Date.now() })
    },
    onPresent: (present) => studyStore.setState({ present }),
  })
  living = own
  await paused
  if (living !== own) return
  const isClaimed = await claimRun(LOCK)
  if (living !== own) return
  const problems = isClaimed ? await own.train() : [OTHER_TAB]
  living = undefined
  releaseRun(LOCK)
  studyStore.setState({ present: [] })
  // The other tab has written that it trains.
  if (!isClaimed) return set(id, { is_training: false, problems })
  change(id, { is_training: false, problems })
  if (problems.length === 0) await forgetDone()
  await readSteps()
}
