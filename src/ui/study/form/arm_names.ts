// Names the arms of a study that is being written as runs are named: by the method, and by what
// tells an arm apart from another one.
import type { Experiment } from '../../../document/experiment/schema/schema.ts'
import { asSettings } from '../../../document/experiment/steered/as_settings.ts'
import type { NamedExperiment } from '../../../document/study/build.ts'
import type { Settings } from '../../../document/study/study.ts'
import type { RunEntry } from '../../../page/runs/library/library_store.ts'
import { baselineFirst, bySettings } from '../../../record/compare/compare.ts'
import { differenceWords, methodWords } from '../../../record/run/difference_words.ts'
import { joinedName } from '../../../record/run/names.ts'
import { shortNames } from '../../shown/names/distinct_names.ts'

/** Words beside the method: a table of arms has room for them. */
const MAX_WORDS = 2

/** An arm that was chosen. */
export interface ChosenArm {
  readonly experiment: Experiment
  /** What a person calls it; '' = by what tells it apart. */
  readonly name: string
  /** What it says otherwise than the base of its study; absent where it is of none yet. */
  readonly settings?: Settings
}

/** The arms with their names: by their methods where these tell them apart; else 'lr 0.001' and
 * 'lr 0.003', so that every arm, the first one too, says what differs, and none is cut before it
 * does. */
export function namedArms(arms: readonly ChosenArm[]): NamedExperiment[] {
  const methods = arms.map(({ experiment }) => methodWords(experiment))
  const automatic =
    new Set(methods).size === arms.length
      ? methods
      : shortNames(
          arms.map(({ experiment }, i) =>
            automaticName(experiment, arms[i > 0 ? 0 : 1]?.experiment),
          ),
        )
  return arms.map((arm, i) => ({ ...arm, name: arm.name || automatic[i] }))
}

function automaticName(experiment: Experiment, other: Experiment | undefined): string {
  const seedless = { ...experiment, seed: other?.seed ?? experiment.seed }
  const words = other ? differenceWords(seedless, other) : []
  return joinedName([methodWords(experiment), ...words], MAX_WORDS)
}

/** An arm for each setting of these runs, however many seeds of it there are, by the name that
 * somebody gave one of them: the baseline first, which a study compares the others with, then the
 * oldest. Of an imported run no setting is known. */
export const armsOfRuns = (runs: readonly RunEntry[]): ChosenArm[] =>
  baselineFirst(bySettings(runs.filter(({ header }) => !header.source)), (own) => own).map(
    (own) => ({
      name: own.map(({ labels }) => labels.name).find((name) => name !== '') ?? '',
      experiment: settingsOf(own[0].header),
    }),
  )

/** As the run made its phases, and with what was set while it trained. */
const settingsOf = ({ document, experiment }: RunEntry['header']): Experiment =>
  document.steering.length === 0
    ? experiment
    : { ...asSettings(document), kernels: experiment.kernels }
