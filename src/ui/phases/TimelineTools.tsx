// Shows, beside the line of phases, what can be done with the chosen one, and how to repeat or add
// one.
import { ListPlus, Repeat } from 'lucide-react'
import { MAX_PHASES } from '../../document/experiment/schema/schema.ts'
import { steer } from '../../page/client/steering.ts'
import { lazyPart } from '../part/lazy_part.tsx'
import { AddPhases } from './AddPhases.tsx'
import { type PhaseEdits, tell } from './phase_edits.ts'
import type { Timeline } from './timeline.ts'

const ChosenTools = lazyPart(async () => (await import('./ChosenTools.tsx')).ChosenTools, {
  name: 'What can be done with a phase',
  fallback: null,
})

const FULL = `An experiment has at most ${MAX_PHASES} phases`

interface TimelineToolsProps {
  readonly timeline: Timeline
  readonly edits: PhaseEdits
  readonly selected: number | undefined
  /** What happened, for people who do not see it. */
  readonly onSaid: (said: string) => void
}

export function TimelineTools({ timeline, edits, selected, onSaid }: TimelineToolsProps) {
  const { experiment, phases, current, isBusy, isPast } = timeline
  return (
    <div className="timeline-tools" hidden={isPast}>
      {selected === undefined ? null : (
        <ChosenTools timeline={timeline} edits={edits} selected={selected} />
      )}
      <span className="timeline-gap" />
      {isBusy ? (
        <button
          type="button"
          data-testid="repeat-phase"
          disabled={phases.length >= MAX_PHASES}
          aria-label="Repeat phase"
          title={
            phases.length < MAX_PHASES
              ? 'Repeat: runs the present phase once more when it ends'
              : FULL
          }
          onClick={() => {
            if (tell(steer({ kind: 'repeat_phase' })))
              onSaid(`${phases[current]?.name} will be repeated`)
          }}
        >
          <Repeat className="icon" aria-hidden="true" />
        </button>
      ) : null}
      <AddPhases
        experiment={experiment}
        isBusy={isBusy}
        icon={<ListPlus className="icon" aria-hidden="true" />}
        onSaid={onSaid}
      />
    </div>
  )
}
