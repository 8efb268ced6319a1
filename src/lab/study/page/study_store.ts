// The page's study: what it is, what is known of it, and the loop that trains its runs one after the other in the background.
import { createStore } from 'zustand/vanilla'
import { newWorker } from '../../page/client/browser_page.ts'
import type { LabPort } from '../../page/port.ts'
import { type Analysis, analyse } from '../analysis.ts'
import { type Arm, expandStudy } from '../arms.ts'
import { changesOf } from '../changes.ts'
import { secondsLeft } from '../queue.ts'
import type { RunResult } from '../results.ts'
import { type Plan, planStudy } from '../search.ts'
import type { Study } from '../study.ts'
import { markTraining } from './continue_study.ts'
import { openStudies, type StudyStorage } from './study_storage.ts'
import { StudyWorker } from './study_worker.ts'

export interface StudyState {
  /** False until what the browser has kept was read. */
  readonly is_ready: boolean
  readonly study: Study | undefined
  readonly arms: readonly Arm[]
  readonly notes: readonly string[]
  readonly results: readonly RunResult[]
  readonly changes: readonly string[]
  readonly is_training: boolean
  /** The run that a worker trains now. */
  readonly present:
    | { readonly name: string; readonly step: number; readonly of: number }
    | undefined
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
  present: undefined,
  problems: [],
}

export const studyStore = createStore<StudyState>(() => EMPTY)

let storage: StudyStorage | undefined
let createPort: () => LabPort = newWorker
let living: StudyWorker | undefined
let loop = 0

/** Reads what is kept, once, and continues a study that was being trained when the page was left. */
export async function openStudy(
  kept: () => Promise<StudyStorage> = openStudies,
  port: () => LabPort = newWorker,
): Promise<void> {
  if (storage) return
  createPort = port
  storage = await kept()
  const { kept: found, results } = await storage.read()
  studyStore.setState({ is_ready: true, results })
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
  const { study, is_training, changes } = studyStore.getState()
  markTraining(is_training)
  if (study) void storage?.write({ study, is_training, changes })
}

/** Takes another study, or the same one changed. Runs that both have are kept. */
export function setStudy(study: Study): boolean {
  const { study: before, results, arms, changes } = studyStore.getState()
  const known = before ? (plan(before, arms, results)?.known ?? 0) : 0
  const is_same = before?.name === study.name && before.question === study.question
  pauseStudy()
  const is_sound = show(
    study,
    is_same && before ? [...changes, ...changesOf(before, study, known)] : [],
  )
  write()
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

/** Trains the missing runs, one after the other, until none is missing or `pauseStudy`. */
export function trainStudy(): void {
  if (studyStore.getState().is_training && living) return
  studyStore.setState({ is_training: true, problems: [] })
  write()
  void trainMissing(++loop)
}

/** Ends the run in progress, which is trained again from its start later. */
export function pauseStudy(): void {
  loop++
  living?.end()
  endWorker()
  studyStore.setState({ is_training: false, present: undefined })
  write()
}

/** Forgets the study and its runs. */
export async function clearStudy(): Promise<void> {
  pauseStudy()
  await storage?.clear()
  studyStore.setState({ ...EMPTY, is_ready: true })
}

function endWorker(): void {
  living?.end()
  living = undefined
}

/** Of a device that was lost: the same run once more. */
const TRIES = 2

async function trainMissing(own: number): Promise<void> {
  let tries = 0
  for (;;) {
    const { study, arms, results } = studyStore.getState()
    const [run] = (study && plan(study, arms, results)?.runs) ?? []
    if (!study || !run) break
    const total = run.experiment.phases.reduce((sum, { steps }) => sum + steps, 0)
    const name = `${run.arm.name}, seed ${run.seed}`
    const onStep = (step: number) => studyStore.setState({ present: { name, step, of: total } })
    onStep(0)
    living ??= new StudyWorker(createPort())
    const outcome = await living.train(run, study, onStep)
    if (own !== loop) return
    if ('problem' in outcome) endWorker()
    if ('result' in outcome) {
      tries = 0
      await storage?.keep(outcome.result)
      studyStore.setState({ results: [...results, outcome.result] })
    } else if (++tries >= TRIES) {
      studyStore.setState({ problems: [`${name}: ${outcome.problem}`] })
      break
    }
  }
  endWorker()
  studyStore.setState({ is_training: false, present: undefined })
  write()
}
