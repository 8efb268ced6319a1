// Holds the page's studies and what follows from them: what is to be trained, what the known runs
// say.
import { createStore } from 'zustand/vanilla'
import { type Analysis, analyse } from '../../document/study/analysis.ts'
import type { Arm } from '../../document/study/arms.ts'
import type { RunResult } from '../../document/study/results.ts'
import { type Plan, planStudy } from '../../document/study/search.ts'
import type { Study } from '../../document/study/study.ts'
import { runsOf } from './kept_studies.ts'
import type { KeptStudy, RecordedRuns } from './study_storage.ts'
import type { PresentRun } from './training/study_training.ts'

/** What can be chosen for the runs at once. */
export const AT_ONCE = [1, 2, 4, 8] as const

export interface WithoutArm extends Pick<KeptStudy, 'study' | 'changes'> {
  /** The arm's name. */
  readonly arm: string
}

export interface StudyState {
  /** False until what the browser has kept was read. */
  readonly isReady: boolean
  /** The open one, and the name that it is kept under. */
  readonly study: Study | undefined
  readonly id: string
  /** Those that are not open, newest first. */
  readonly others: readonly KeptStudy[]
  /** Deleted, newest first, and not yet gone: each can be brought back. */
  readonly deleted: readonly KeptStudy[]
  /** The one of them that was deleted just now. */
  readonly justDeleted: KeptStudy | undefined
  /** The open one as it was before an arm was taken out of it: undo brings it back. */
  readonly without: WithoutArm | undefined
  readonly arms: readonly Arm[]
  readonly notes: readonly string[]
  readonly changes: readonly string[]
  /** The open one is; of another one `others` says it. */
  readonly is_training: boolean
  /** The runs that are trained now, in turn on one device, of whichever study. */
  readonly present: readonly PresentRun[]
  /** The steps at which runs that are not on are continued, by their fingerprints. */
  readonly kept_steps: ReadonlyMap<string, number>
  /** Runs that are trained at once, at most. */
  readonly at_once: number
  /** The runs that were recorded of it are being loaded, and none of it is known yet. */
  readonly isLoading: boolean
  /** It came from elsewhere, as a link or a file that holds no results. */
  readonly isPlanAlone: boolean
  /** Those of its runs that came with the lab or with a file, where they are shown. */
  readonly recorded: RecordedRuns | undefined
  /** When its newest run was trained here, in milliseconds since 1970. */
  readonly trained_at: number | undefined
  /** Of all studies. */
  readonly results: readonly RunResult[]
  /** Why it is not being trained, in a sentence or several. */
  readonly problems: readonly string[]
}

/** Without a study, before anything was read. */
export const EMPTY: StudyState = {
  isReady: false,
  study: undefined,
  id: '',
  others: [],
  deleted: [],
  justDeleted: undefined,
  without: undefined,
  arms: [],
  notes: [],
  isLoading: false,
  isPlanAlone: false,
  recorded: undefined,
  trained_at: undefined,
  results: [],
  changes: [],
  is_training: false,
  present: [],
  kept_steps: new Map(),
  at_once: 4,
  problems: [],
}

export const studyStore = createStore<StudyState>(() => EMPTY)

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

interface Analysed {
  readonly of: readonly unknown[]
  readonly analysis: Analysis
  readonly study: Study
}

const analysed = new WeakMap<Study, Analysed>()

/** What the known runs say; computed again when one is added. Runs of other studies are no runs of
 * this one that it has left out. */
export function analysisOf({
  study,
  arms,
  results,
}: Pick<StudyState, 'study' | 'arms' | 'results'>): Analysed | undefined {
  if (!study || arms.length === 0) return undefined
  const of = [arms, results]
  const before = analysed.get(study)
  if (before?.of.every((one, i) => one === of[i])) return before
  const own = runsOf(study, results)
  const { compared } = planStudy(study, arms, own)
  const analysis = analyse(compared.study, compared.arms, own)
  const found = { of, analysis, study: compared.study }
  analysed.set(study, found)
  return found
}

/** All studies but those that are deleted. */
export const staying = ({
  study,
  others,
}: Pick<StudyState, 'study' | 'others'>): readonly Study[] => [
  ...(study ? [study] : []),
  ...others.map((one) => one.study),
]
