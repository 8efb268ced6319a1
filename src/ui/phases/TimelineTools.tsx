// Shows, beside the line of phases, what can be done with the chosen one, and how to repeat or add
// one.
import { ListPlus } from 'lucide-react'
import { lazyPart } from '../part/lazy_part.tsx'
import { AddPhases } from './AddPhases.tsx'
import type { PhaseEdits } from './phase_edits.ts'
import type { Timeline } from './timeline.ts'

const ChosenTools = lazyPart(async () => (await import('./ChosenTools.tsx')).ChosenTools, {
  name: 'What can be done with a phase',
  fallback: null,
})
/** Only a run that is on has a present phase. */
const RepeatPhase = lazyPart(async () => (await import('./ChosenTools.tsx')).RepeatPhase, {
  name: 'The button that repeats a phase',
  fallback: null,
})

interface TimelineToolsProps {
  readonly timeline: Timeline
  readonly edits: PhaseEdits
  readonly selected: number | undefined
  readonly onLeave: () => void
  /** What happened, for people who do not see it. */
  readonly onSaid: (said: string) => void
}

export function TimelineTools(props: TimelineToolsProps) {
  const { timeline, edits, selected, onLeave, onSaid } = props
  const { experiment, isBusy, isPast } = timeline
  return (
    <div className="timeline-tools" hidden={isPast}>
      {selected === undefined ? null : (
        <ChosenTools timeline={timeline} edits={edits} selected={selected} onLeave={onLeave} />
      )}
      {isBusy ? <RepeatPhase timeline={timeline} onSaid={onSaid} /> : null}
      <AddPhases
        experiment={experiment}
        isBusy={isBusy}
        icon={<ListPlus className="icon" aria-hidden="true" />}
        onSaid={onSaid}
      />
    </div>
  )
}
