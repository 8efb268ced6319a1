// Walks over every field of an experiment: what a system takes over, what it leaves out, and what
// it cannot run.

import { valueAt } from '../../document/experiment/fields/paths.ts'
import { taskOf } from '../../document/experiment/fields/task_fields.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { doneByHand } from '../../document/experiment/steering/steered_kernels.ts'
import { steeringWords } from '../../document/experiment/steering/words.ts'
import type { FieldValue } from '../../rl/fields/field.ts'
import type { Fate, JobFacts, Setting, Target, VerlVersion, Written } from './setting.ts'
import { NOT_STEERED, SETTINGS } from './settings.ts'

/** A field with a value that means something, and what becomes of it. */
export interface Note {
  readonly path: string
  readonly value: FieldValue
  readonly why: string
}

/** What a system takes over from an experiment. */
export interface Carried {
  /** Names and values there, each name once, in the order of the list. */
  readonly arguments: ReadonlyMap<string, Written>
  /** What has no counterpart and is left out. */
  readonly lost: readonly Note[]
  /** What it cannot run. */
  readonly refused: readonly Note[]
}

/** What becomes of a field in a system. The fork is older than verl 0.7. */
export const fateOf = (setting: Setting, target: Target, version: VerlVersion): Fate => {
  if (target === 'trl') return setting.trl
  if (target === 'bupo') return setting.bupo ?? setting.verl_0_7 ?? setting.verl
  return version === '0.7' ? (setting.verl_0_7 ?? setting.verl) : setting.verl
}

/** Whether calls of tools are written as a chat template has them. */
const hasChat = ({ experiment }: JobFacts): boolean =>
  taskOf(experiment.task).tokenizer.renderChat !== undefined

/** What was changed by hand, each with its step; '' where nothing was. */
const byHandWords = (changes: Experiment['steering']): string =>
  doneByHand(changes)
    .map((entry) => `${steeringWords(entry)} after step ${entry.step}`)
    .join(', ')

/** The same as a note, for jobs that list what they leave out themselves. */
export function byHandNotes({
  experiment,
  changes,
}: Pick<JobFacts, 'experiment' | 'changes'>): readonly Note[] {
  const value = byHandWords(changes ?? experiment.steering)
  const why = changes ? NOT_STEERED.trained : NOT_STEERED.lost
  return value === '' ? [] : [{ path: 'steering', value, why }]
}

/** The fields of a job's phase and of its experiment, where the paths of the list lead to. */
function documentOf({ experiment, phase, settings, changes = experiment.steering }: JobFacts) {
  return {
    ...experiment,
    ...settings,
    phases: { rl: phase },
    steering: byHandWords(changes),
  }
}

/** What `target` takes over; pure, and the same for the same experiment. */
export function carry(facts: JobFacts, target: Target, version: VerlVersion): Carried {
  const document = documentOf(facts)
  const written = new Map<string, Written>()
  const lost: Note[] = []
  const refused: Note[] = []
  for (const [path, setting] of Object.entries(SETTINGS)) {
    const isChat = target === 'verl' && version !== '0.7' && hasChat(facts)
    const fate = (isChat && setting.verlChat) || fateOf(setting, target, version)
    if ('by' in fate || setting.when?.(facts) === false) continue
    const value = valueAt(document, path) as FieldValue
    if ('lost' in fate) {
      const why = (facts.changes && fate.trained) ?? fate.lost
      if (value !== fate.unless)
        (fate.refuse ? refused : lost).push({ path: shownPath(path), value, why })
      continue
    }
    const expected = fate.legal?.includes(String(value))
      ? fate.expected?.(value as never, facts)
      : (fate.legal?.join(', ') ?? fate.expected?.(value as never, facts))
    if (expected !== undefined) {
      const why = `expected ${expected}`
      refused.push({ path: shownPath(path), value, why })
      continue
    }
    const own = fate.value ? fate.value(value as never, facts) : value
    if (own === undefined) continue
    for (const key of typeof fate.to === 'string' ? [fate.to] : fate.to) written.set(key, own)
  }
  return { arguments: written, lost, refused }
}

/** A field of the phase as a person finds it. */
const shownPath = (path: string): string => path.replace(/^phases\.rl\./, 'the phase’s ')
