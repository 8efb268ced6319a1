// Lists what happened to the run, in order: phases that began and why, and what was changed by
// hand.

import { useStore } from 'zustand'
import { lasting } from '../../document/experiment/steered/lasting.ts'
import { MARKS_PHASE } from '../../document/experiment/steered/planned.ts'
import type { SteeringEntry } from '../../document/experiment/steering/actions.ts'
import { doneByHand } from '../../document/experiment/steering/steered_kernels.ts'
import { steeringWords } from '../../document/experiment/steering/words.ts'
import type { RunEntry } from '../../page/runs/library/library_store.ts'
import type { LabState } from '../../page/state/store.ts'
import { useOpenedEntry } from '../open/opened_run.ts'
import { phaseMark } from '../scales/phase_mark.ts'
import { reasonWords, shownPhases, useLab } from '../shown/run.ts'
import { endText, statusWord } from '../shown/run_words.ts'
import { useIsPast, usePresent } from '../shown/shown.ts'
import { selectIsStudy, uiStore } from '../shown/store.ts'

const selectSwitches = (state: LabState) => state.phase_switches
const selectSteered = (state: LabState) => state.steered
const selectDocument = (state: LabState) => state.runDocument
const selectPlanned = (state: LabState) => state.experiment.steering

interface Event {
  readonly key: string
  readonly step: number
  readonly words: string
  readonly note: string
}

/** Phases that began and changes that were made, in order. */
function happened(
  switches: LabState['phase_switches'],
  done: readonly SteeringEntry[],
  steered: LabState['steered'],
  phases: ReturnType<typeof shownPhases>,
): Event[] {
  const began = switches.map(
    ({ step, phase, reason }): Event => ({
      key: `phase ${phase}`,
      step,
      words: `${phaseMark(phase + 1)} ${phases[phase]?.name ?? ''}`,
      note: reasonWords(reason),
    }),
  )
  // A phase that was chosen by hand is said where it begins.
  const told = done.filter(({ kind }) => !MARKS_PHASE.includes(kind)).map(steeringEvent)
  const refusals = steered.flatMap(({ entry, refused }, i): Event[] =>
    refused === undefined
      ? []
      : [{ ...steeringEvent(entry, i), key: `refused ${i}`, note: `not done: ${refused}` }],
  )
  return [...told, ...refusals, ...began].sort((a, b) => a.step - b.step)
}

const steeringEvent = (entry: SteeringEntry, i: number): Event => ({
  key: `steering ${i}`,
  step: entry.step,
  words: steeringWords(entry),
  note: '',
})

const endOf = (past: RunEntry['header'] | undefined): Event[] =>
  past
    ? [{ key: 'end', step: past.step, words: endText(past), note: past.error?.message ?? '' }]
    : []

/** The record of a run that was steered; before it, what its document says will be done. */
export function Record() {
  const switches = usePresent(selectSwitches)
  const steered = usePresent(selectSteered)
  const document = usePresent(selectDocument)
  const planned = useLab(selectPlanned)
  const phases = usePresent(shownPhases)
  const isPast = useIsPast()
  const isStudy = useStore(uiStore, selectIsStudy)
  const isPlanned = !isPast && planned.length > 0 && switches.length === 0
  const past = useOpenedEntry()?.header
  const hasEndedEarly = past !== undefined && statusWord(past) !== 'finished'
  // A study is about other runs.
  if (isStudy && !isPlanned) return null
  const done = lasting({ steered, steering: document?.steering ?? [] })
  const isUnsteered = done.length === 0 && steered.every(({ refused }) => refused === undefined)
  if (switches.length < 2 && isUnsteered && !isPlanned && !hasEndedEarly) return null
  // As many as the link carries: those that began a phase too.
  const byHand = doneByHand(done).length
  const plan = planned.map(steeringEvent)
  const events = isPlanned ? plan : [...happened(switches, done, steered, phases), ...endOf(past)]
  return (
    <details className="card record" data-testid="record" open={isPlanned || undefined}>
      <summary>
        {isPlanned ? 'This experiment is steered' : 'The course of the run'}
        <span className="soft">
          {isPlanned
            ? `${plan.length} ${plan.length === 1 ? 'change' : 'changes'} while it runs`
            : `${switches.length} ${switches.length === 1 ? 'phase' : 'phases'}, ${byHand} ${byHand === 1 ? 'change' : 'changes'} by hand`}
        </span>
      </summary>
      <ol>
        {events.map(({ key, step, words, note }) => (
          <li key={key}>
            <span className="soft">after step {step}</span> <span>{words}</span>{' '}
            {note ? <span className="soft">{note}</span> : null}
          </li>
        ))}
      </ol>
    </details>
  )
}
