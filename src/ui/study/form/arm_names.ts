// Names the arms of a study that is being written as runs are named: by the method, and by what
// tells an arm apart from the first one.
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import type { NamedExperiment } from '../../../document/study/build.ts'
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { bySettings } from '../../../record/compare/compare.ts'
import { differenceWords, methodWords } from '../../../record/run/difference_words.ts'
import { joinedName, runName } from '../../../record/run/names.ts'
import { distinctNames } from '../../open/distinct_names.ts'

/** Words beside the method: a table of arms has room for them. */
const MAX_WORDS = 2

/** 'GRPO' of the first arm; of another one 'GRPO, lr 0.003', with what it says otherwise. */
export function armName(experiment: Experiment, first: Experiment | undefined): string {
  const seedless = { ...experiment, seed: first?.seed ?? experiment.seed }
  const words = first ? differenceWords(seedless, first) : []
  return joinedName([methodWords(experiment), ...words], MAX_WORDS)
}

/** An arm for each setting of these runs, however many seeds of it there are, by the name that the
 * list of runs gives it. Of an imported run no setting is known. */
export const armsOfRuns = (runs: readonly RunEntry[]): NamedExperiment[] =>
  bySettings(runs.filter(({ header }) => !header.source)).map(([entry]) => ({
    name: distinctNames(runs).get(entry.id)?.seedless ?? runName(entry).seedless,
    experiment: entry.header.experiment,
  }))
