// Draws the button that runs the present phase once more.
import { Repeat } from 'lucide-react'
import { MAX_PHASES } from '../../document/experiment/schema/schema.ts'
import { steer } from '../../page/client/steering.ts'
import { tell } from './phase_edits.ts'
import type { Timeline } from './timeline.ts'

interface RepeatPhaseProps {
  readonly timeline: Timeline
  /** What happened, for people who do not see it. */
  readonly onSaid: (said: string) => void
}

export function RepeatPhase({ timeline, onSaid }: RepeatPhaseProps) {
  const { phases, current } = timeline
  const isFull = phases.length >= MAX_PHASES
  return (
    <button
      type="button"
      data-testid="repeat-phase"
      disabled={isFull}
      aria-label="Repeat phase"
      title={
        isFull
          ? `An experiment has at most ${MAX_PHASES} phases`
          : 'Repeat: runs the present phase once more when it ends'
      }
      onClick={() => {
        if (tell(steer({ kind: 'repeat_phase' })))
          onSaid(`${phases[current]?.name} will be repeated`)
      }}
    >
      <Repeat className="icon" aria-hidden="true" />
    </button>
  )
}
