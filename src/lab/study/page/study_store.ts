// The page's study: what it is, what is known of it, and the loop that trains its runs in the background, a few at once.
import { createStore } from 'zustand/vanilla'
import { newWorker } from '../../page/client/browser_page.ts'
import type { LabPort } from '../../page/port.ts'
import { claimRun, releaseRun } from '../../runs/storage/locks.ts'
import { type Analysis, analyse } from '../analysis.ts'
import { type Arm, expandStudy } from '../arms.ts'
import { changesOf } from '../changes.ts'
import { secondsLeft } from '../queue.ts'
import type { RunResult } from '../results.ts'
import { type Plan, planStudy } from '../search.ts'
import type { Study } from '../study.ts'
import { markTraining } from './continue_study.ts'
import { forgetStates } from './run_states.ts'
import { openStudies, type StudyStorage } from './study_storage.ts'
import { type PresentRun, StudyTraining } from './study_training.ts'

/** What can be chosen for the runs at once. */
export const AT_ONCE = [1, 2, 4, 8] as const

export interface StudyState {
  /** False until what the browser has kept was read. */
  readonly is_ready: boolean
  readonly study: Study | undefined
  readonly arms: readonly Arm[]
  readonly notes: readonly string[]
  readonly results: readonly RunResult[]
  readonly changes: readonly string[]
  readonly is_training: boolean
  /** The runs that are trained now, in turn on one device; none where nothing is. */
  readonly present: readonly PresentRun[]
  /** Runs that are trained at once, at most. */
  readonly at_once: number
  /** Why it is not being trained, in a sentence or several. */
  readonly problems: readonly string[]
}

const EMPTY: StudyState = {
  is_ready: false,
  study: undefined,
  arms: [],
  notes: [],
  results: [],
  changes: [],
  is_training: false,
  present: [],
  at_once: 4,
  problems: [],
}

export const studyStore = createStore<StudyState>(() => EMPTY)

let storage: StudyStorage | undefined
let createPort: () => LabPort = newWorker
let living: StudyTraining | undefined

/** Reads what is kept, once, and continues a study that was being trained when the page was left. */
export async function openStudy(
  kept: () => Promise<StudyStorage> = openStudies,
  port: () => LabPort = newWorker,
): Promise<void> {
  if (storage) return
  createPort = port
  storage = await kept()
  const { kept: found, results } = await storage.read()
  studyStore.setState({
    is_ready: true,
    results,
    ...(found?.at_once && { at_once: found.at_once }),
  })
  if (!found) return
  show(found.study, found.changes)
  if (found.is_training) trainStudy()
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

function write(): void {
  const { study, is_training, changes, at_once } = studyStore.getState()
  markTraining(is_training)
  if (study) void storage?.write({ study, is_training, changes, at_once })
}

/** From the next run on so many are trained at once. */
export function setAtOnce(at_once: number): void {
  studyStore.setState({ at_once })
  write()
}

/** Takes another study, or the same one changed, which is trained on if it was being trained. Runs that both have are kept. */
export function setStudy(study: Study): boolean {
  const { study: before, results, arms, changes } = studyStore.getState()
  const known = before ? (plan(before, arms, results)?.known ?? 0) : 0
  const is_same = before?.name === study.name && before.question === study.question
  const continues = is_same && studyStore.getState().is_training
  pauseStudy()
  const is_sound = show(
    study,
    is_same && before ? [...changes, ...changesOf(before, study, known)] : [],
  )
  write()
  if (is_sound && continues) trainStudy()
  return is_sound
}

/** What is to be trained, and how many runs of the study are known. */
export function plan(
  study: Study,
  arms: readonly Arm[],
  results: readonly RunResult[],
): (Plan & { readonly known: number }) | undefined {
  if (arms.length === 0) return undefined
  const found = planStudy(study, arms, results)
  const { compared } = found
  const total = compared.arms.length * compared.study.seeds.length
  return { ...found, known: total - found.runs.length }
}

let analysed: { of: readonly unknown[]; analysis: Analysis; study: Study } | undefined

/** What the known runs say; computed again when one is added. */
export function analysisOf({ study, arms, results }: StudyState) {
  if (!study || arms.length === 0) return undefined
  const of = [study, arms, results]
  if (!analysed || analysed.of.some((one, i) => one !== of[i])) {
    const { compared } = planStudy(study, arms, results)
    const analysis = analyse(compared.study, compared.arms, results)
    analysed = { of, analysis, study: compared.study }
  }
  return analysed
}

/** Seconds until the end, as far as that can be said. */
export function timeLeft({ study, arms, results }: StudyState): number | undefined {
  const found = study && plan(study, arms, results)
  if (!found) return undefined
  const own = analysisOf(studyStore.getState())?.analysis.runs ?? []
  return secondsLeft(found.runs.length, own)
}

/** Trains the missing runs until none is missing or `pauseStudy`. */
export function trainStudy(): void {
  const { study } = studyStore.getState()
  if (living || !study) return
  studyStore.setState({ is_training: true, problems: [] })
  write()
  void train(study)
}

/** Ends the runs in progress; each is continued later from its newest checkpoint, or from its start. */
export function pauseStudy(): void {
  living?.end()
  living = undefined
  releaseRun(LOCK)
  studyStore.setState({ is_training: false, present: [] })
  write()
}

/** Forgets the study and its runs. */
export async function clearStudy(): Promise<void> {
  pauseStudy()
  await storage?.clear()
  const { at_once } = studyStore.getState()
  studyStore.setState({ ...EMPTY, is_ready: true, at_once })
  await forgetStates([])
}

/** Held by the tab that trains the study of this browser. */
const LOCK = 'study'
const OTHER_TAB =
  'Another tab of this browser trains its study. Open this tab again for its results.'

/** Trains what is missing of the study as it is now. */
async function train(study: Study): Promise<void> {
  const { arms } = studyStore.getState()
  const own = new StudyTraining({
    ...{ study, arms, createPort },
    missing: () => plan(study, arms, studyStore.getState().results)?.runs ?? [],
    at_once: () => studyStore.getState().at_once,
    keep: async (result) => {
      await storage?.keep(result)
      studyStore.setState(({ results }) => ({ results: [...results, result] }))
    },
    onPresent: (present) => studyStore.setState({ present }),
  })
  living = own
  const is_claimed = await claimRun(LOCK)
  if (living !== own) return
  const problems = is_claimed ? await own.train() : [OTHER_TAB]
  living = undefined
  releaseRun(LOCK)
  studyStore.setState({ is_training: false, present: [], problems })
  // The other tab has written that it trains.
  if (!is_claimed) return
  write()
  if (problems.length === 0) await forgetStates([])
}
