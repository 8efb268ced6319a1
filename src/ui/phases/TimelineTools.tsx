// Shows, beside the line of phases, what can be done with the chosen one, and how to repeat or add
// one.
import { ArrowLeft, ArrowRight, ListPlus, Repeat, SlidersHorizontal, Trash2 } from 'lucide-react'
import type { ReactNode } from 'react'
import { MAX_PHASES } from '../../document/experiment/schema/schema.ts'
import { steer } from '../../page/client/steering.ts'
import { goToPhase } from '../open/wanted.ts'
import { phaseMark } from '../scales/geometry.ts'
import { AddPhases } from './AddPhases.tsx'
import { type PhaseEdits, tell } from './phase_edits.ts'
import type { Timeline } from './timeline.ts'

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

function ChosenTools(props: {
  readonly timeline: Timeline
  readonly edits: PhaseEdits
  readonly selected: number
}) {
  const { edits, selected } = props
  const { phases, canMove } = props.timeline
  return (
    <>
      <span className="timeline-chosen">
        {phaseMark(selected + 1)} {phases[selected].name}
      </span>
      <Tool
        label={`Move phase ${selected + 1} earlier`}
        enabled={selected > 0 && canMove(selected) && canMove(selected - 1)}
        onClick={() => edits.move(selected, selected - 1)}
      >
        <ArrowLeft className="icon" aria-hidden="true" />
      </Tool>
      <Tool
        label={`Move phase ${selected + 1} later`}
        enabled={selected + 1 < phases.length && canMove(selected)}
        onClick={() => edits.move(selected, selected + 1)}
      >
        <ArrowRight className="icon" aria-hidden="true" />
      </Tool>
      <Tool
        label={`Remove phase ${selected + 1}`}
        enabled={canMove(selected) && phases.length > 1}
        onClick={() => edits.remove(selected)}
      >
        <Trash2 className="icon" aria-hidden="true" />
      </Tool>
      <span className="narrow-only">
        <Tool
          label={`Settings of phase ${selected + 1}`}
          enabled={true}
          onClick={() => goToPhase(selected)}
        >
          <SlidersHorizontal className="icon" aria-hidden="true" />
        </Tool>
      </span>
    </>
  )
}

function Tool(props: {
  label: string
  enabled: boolean
  onClick: () => void
  children: ReactNode
}) {
  return (
    <button
      type="button"
      className="tool"
      aria-label={props.label}
      title={props.label}
      disabled={!props.enabled}
      onClick={props.onClick}
    >
      {props.children}
    </button>
  )
}
