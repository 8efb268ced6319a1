// Moves and removes the chosen phase, opens its settings, and repeats the present one.
import { ArrowLeft, ArrowRight, Repeat, SlidersHorizontal, Trash2, X } from 'lucide-react'
import { type ReactNode, useEffect, useRef } from 'react'
import { MAX_PHASES } from '../../document/experiment/schema/schema.ts'
import { steer } from '../../page/client/steering.ts'
import type { LabState } from '../../page/state/store.ts'
import { goToPhase } from '../open/wanted.ts'
import { phaseMark } from '../scales/phase_mark.ts'
import { useLab } from '../shown/run.ts'
import { type PhaseEdits, tell } from './phase_edits.ts'
import type { Timeline } from './timeline.ts'

/** Escape leaves the phase from within the bar, and from where nothing has the focus; what is open
 * above it is closed first. */
function useEscape(leave: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented) return
      if (document.querySelector(':is(dialog[open], :popover-open)')) return
      const { activeElement } = document
      if (activeElement !== document.body && !activeElement?.closest('.work')) return
      event.preventDefault()
      leave()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  })
}

/** A phase is chosen of one experiment and of one run: it is left with them. */
const selectOf = ({ preset_id, record }: LabState) => preset_id + record

function useLeaving(leave: () => void): void {
  const of = useLab(selectOf)
  const chosenOf = useRef(of)
  useEffect(() => {
    if (of !== chosenOf.current) leave()
  }, [of, leave])
}

export function ChosenTools(props: {
  readonly timeline: Timeline
  readonly edits: PhaseEdits
  readonly selected: number
  readonly onLeave: () => void
}) {
  const { edits, selected } = props
  const { phases, canMove } = props.timeline
  const leave = () => {
    props.onLeave()
    edits.focusSegment(selected)
  }
  useEscape(leave)
  useLeaving(props.onLeave)
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
      <span className="narrow-only timeline-close">
        <Tool label="Close" enabled={true} onClick={leave}>
          <X className="icon" aria-hidden="true" />
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

interface RepeatPhaseProps {
  readonly timeline: Timeline
  /** What happened, for people who do not see it. */
  readonly onSaid: (said: string) => void
}

/** The button that runs the present phase once more. */
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
