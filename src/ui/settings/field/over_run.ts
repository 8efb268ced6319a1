// Says what a setting was over the run, where a person changed it while the run went on, and what a
// change of it would do now.
import { saidValue } from '../../../document/experiment/form/setting_words.ts'
import {
  changesWords,
  fieldChanges,
  type ValueSince,
} from '../../../document/experiment/steered/field_changes.ts'
import { nextExperiment } from '../../../page/state/next_experiment.ts'
import type { LabState } from '../../../page/state/store.ts'
import { selectIsBusy } from '../../shown/run.ts'

type Changes = ReadonlyMap<string, readonly ValueSince[]>

const known = new WeakMap<object, { readonly of: readonly unknown[]; readonly changes: Changes }>()

/** Of the run on the page, or of the one that the settings plan; computed again when something is
 * done to it, and where its phase began elsewhere: one that begins says so in several parts. */
function changesIn(state: LabState): Changes {
  const { experiment, runDocument, phase_switches, step, phase, phase_step } = state
  const document = runDocument ?? experiment
  const done = document.steering.filter((entry) => entry.step <= step).length
  const of = [phase_switches, done, phase, step - phase_step]
  const before = known.get(document)
  if (before?.of.every((part, i) => part === of[i])) return before.changes
  const changes = fieldChanges({ document, phase_switches, step, phase, phase_step })
  known.set(document, { of, changes })
  return changes
}

/** What the setting was and what is edited here, in words; '' for one that nobody changed during a
 * run. */
export function overRunWords(state: LabState, path: string): string {
  const values = changesIn(state).get(path)
  if (!values) return ''
  const said = changesWords(values, saidValue)
  const { runDocument } = state
  // The same before the run has confirmed an earlier change.
  if (selectIsBusy(state) && !state.isBeside)
    return `${said}. A change here counts from the next step.`
  if (runDocument && nextExperiment(state) !== runDocument)
    return `The run on screen: ${said}. The next run has what stands here from its first step.`
  return runDocument
    ? `${said}. Train again does the same; a value that you set here counts from the first step.`
    : `${said}. Train does this; what you set here is the first value.`
}
