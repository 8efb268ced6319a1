// The phases on a line: where the run is, and how to change what comes.
import { ArrowLeft, ArrowRight, ListPlus, Repeat, Trash2 } from 'lucide-react'
import { type KeyboardEvent, type PointerEvent, useEffect, useMemo, useRef, useState } from 'react'
import {
  type Experiment,
  MAX_PHASES,
  MAX_STEPS,
  resolvePhases,
  sameSettings,
} from '../../lab/experiment/experiment.ts'
import { isEnding } from '../../lab/experiment/planned.ts'
import { editField, movePhase, removePhase } from '../../lab/page/client/edits.ts'
import { steer } from '../../lab/page/client/steering.ts'
import { isBusy } from '../../lab/page/run_parts.ts'
import type { LabState } from '../../lab/page/store.ts'
import { formatSteps } from '../base/format.ts'
import {
  endWords,
  methodName,
  phaseTarget,
  selectIsEdited,
  selectLeftOut,
  useLab,
  useLastLayer,
} from '../base/run.ts'
import { useIsPast, useShown, useShownFrame } from '../base/shown.ts'
import { showToast } from '../base/store.ts'
import { phaseMark } from '../plot/geometry.ts'
import { AddPhases } from './AddPhases.tsx'

const FULL = `An experiment has at most ${MAX_PHASES} phases`

const selectSwitches = (state: LabState) => state.phase_switches
const selectPhase = (state: LabState) => state.phase
const selectPhaseStep = (state: LabState) => state.phase_step
const selectIsFinished = ({ status }: LabState) => status === 'finished'
/** The line shows the run while there is one that the settings have not left behind. */
const selectHasBegun = (state: LabState) =>
  state.run_experiment !== undefined &&
  (isBusy(state) || sameSettings(state.experiment, state.run_experiment))

/**
 * What the line shows. Lengths that were just changed are those of the settings, which the run follows; another experiment that
 * was chosen is not the run's.
 */
export function selectShown(state: LabState): Experiment {
  const { experiment, run_experiment } = state
  if (!selectHasBegun(state) || !run_experiment) return experiment
  const phases = ({ phases }: Experiment) =>
    JSON.stringify(phases.map((phase) => ({ ...phase, steps: 0 })))
  const is_of_run = experiment.name === run_experiment.name
  return is_of_run && phases(experiment) === phases(run_experiment) ? experiment : run_experiment
}

interface Drag {
  readonly index: number
  readonly from_x: number
  readonly widths: readonly number[]
  readonly pixels_per_step: number
  readonly steps: number
}

const tell = (problem: string | undefined): boolean => {
  if (problem !== undefined) showToast(problem)
  return problem === undefined
}

export function Phases() {
  const experiment = useShown(selectShown)
  const phases = useMemo(() => resolvePhases(experiment), [experiment])
  const last_layer = useLastLayer()
  const has_begun = useShown(selectHasBegun)
  const is_busy = useLab(isBusy)
  const is_past = useIsPast()
  const is_finished = useShown(selectIsFinished)
  const is_ending = useLab(isEnding) && is_busy && !is_past
  const left_out = useLab(selectLeftOut)
  const is_edited = useLab(selectIsEdited)
  const current = useShown(selectPhase)
  const phase_step = useShownFrame(selectPhaseStep)
  const switches = useShown(selectSwitches)
  const [chosen, setChosen] = useState<number>()
  const [drag, setDrag] = useState<Drag>()
  const [said, setSaid] = useState('')
  const list = useRef<HTMLOListElement>(null)
  const present = has_begun ? current : -1
  useEffect(() => {
    const line = list.current
    const item = line?.children[present]
    if (!line || !item || line.scrollWidth <= line.clientWidth) return
    // Only the line scrolls: the page stays where it is.
    const left = item.getBoundingClientRect().left - line.getBoundingClientRect().left
    line.scrollBy({ left: left - (line.clientWidth - item.clientWidth) / 2 })
  }, [present])
  const selected = chosen !== undefined && chosen < phases.length ? chosen : undefined
  /** Steps that a phase has taken, where it is over or under way. */
  const doneOf = (index: number) => {
    if (index >= present) return index === present ? phase_step : 0
    const step = (of: number) => switches.find(({ phase }) => phase === of)?.step ?? 0
    return step(index + 1) - step(index)
  }
  // A phase that is over is as long as it was.
  const lengthOf = (index: number) => (index < present ? doneOf(index) : phases[index].steps)
  const total = phases.reduce((sum, _, i) => sum + lengthOf(i), 0)

  const least = (index: number) => (is_busy && index === current ? Math.max(1, phase_step) : 1)
  const canLengthen = (index: number) => !is_past && (!is_busy || index >= current)
  const canMove = (index: number) => !is_past && (!is_busy || index > current)
  const lengthen = (index: number, steps: number) => {
    const wanted = Math.min(MAX_STEPS, Math.max(least(index), Math.round(steps)))
    if (wanted === phases[index].steps || !canLengthen(index)) return
    if (tell(editField(`phases.${index}.steps`, wanted)))
      setSaid(`Phase ${index + 1}, ${phases[index].name}: ${formatSteps(wanted)}`)
  }
  const move = (index: number, to: number) => {
    if (to < 0 || to >= phases.length || !canMove(index) || !canMove(to)) return
    if (!tell(movePhase(index, to))) return
    setChosen(to)
    focusSegment(to)
    setSaid(`${phases[index].name} is now phase ${to + 1} of ${phases.length}`)
  }
  const remove = (index: number) => {
    if (!canMove(index) || phases.length === 1 || !tell(removePhase(index))) return
    setChosen(undefined)
    setSaid(`Phase ${index + 1}, ${phases[index].name}, removed`)
  }
  const segments = () => [...(list.current?.querySelectorAll<HTMLElement>('.phase-segment') ?? [])]
  const focusSegment = (index: number) => segments()[index]?.focus()

  const onSegmentKey = (event: KeyboardEvent, index: number) => {
    const { key, altKey, shiftKey } = event
    const { steps } = phases[index]
    const by = shiftKey ? 10 : 1
    if (altKey && key === 'ArrowLeft') move(index, index - 1)
    else if (altKey && key === 'ArrowRight') move(index, index + 1)
    else if (key === 'ArrowLeft') focusSegment(index - 1)
    else if (key === 'ArrowRight') focusSegment(index + 1)
    else if (key === 'ArrowUp') lengthen(index, steps + by)
    else if (key === 'ArrowDown') lengthen(index, steps - by)
    else if (key === 'Delete') remove(index)
    else return
    event.preventDefault()
  }
  const onBoundaryKey = (event: KeyboardEvent, index: number) => {
    const { steps } = phases[index]
    const changes: Record<string, number> = {
      ArrowRight: steps + (event.shiftKey ? 10 : 1),
      ArrowUp: steps + (event.shiftKey ? 10 : 1),
      ArrowLeft: steps - (event.shiftKey ? 10 : 1),
      ArrowDown: steps - (event.shiftKey ? 10 : 1),
      PageUp: steps + 10,
      PageDown: steps - 10,
      Home: least(index),
    }
    if (!(event.key in changes)) return
    lengthen(index, changes[event.key])
    event.preventDefault()
  }
  const onGrab = (event: PointerEvent<HTMLElement>, index: number) => {
    if (event.button !== 0 || !list.current) return
    event.currentTarget.setPointerCapture(event.pointerId)
    setDrag({
      index,
      from_x: event.clientX,
      widths: segments().map((segment) => segment.offsetWidth),
      pixels_per_step: list.current.offsetWidth / total,
      steps: phases[index].steps,
    })
  }
  const onDrag = (event: PointerEvent) => {
    if (!drag) return
    const moved = (event.clientX - drag.from_x) / drag.pixels_per_step
    const steps = Math.round(phases[drag.index].steps + moved)
    setDrag({ ...drag, steps: Math.min(MAX_STEPS, Math.max(least(drag.index), steps)) })
  }
  const onDrop = () => {
    if (drag) lengthen(drag.index, drag.steps)
    setDrag(undefined)
  }
  /** While a boundary is dragged the others stay where they are. */
  const width = (index: number) => {
    if (!drag) return { flexGrow: lengthOf(index) / total }
    const more = index === drag.index ? drag.steps - phases[index].steps : 0
    return { flex: `0 0 ${Math.max(8, drag.widths[index] + more * drag.pixels_per_step)}px` }
  }

  return (
    <div className="timeline">
      <ol
        ref={list}
        className={drag ? 'phases dragged' : 'phases'}
        aria-label="Phases"
        data-testid="phases"
      >
        {phases.map((phase, i) => {
          const ended = switches.find((s) => s.phase === i + 1)
          const is_current = i === present && !is_finished
          const done = doneOf(i)
          const steps = drag?.index === i ? drag.steps : phase.steps
          const name = `${phase.name}: ${phaseTarget(phase, last_layer)}`
          // One that was shortened while its steps went on has taken more of them.
          const taken = done > 0 && done <= steps ? `${done} of ${steps}` : undefined
          return (
            <li
              // Two phases may be alike: their place tells them apart.
              key={i}
              className={is_current ? 'phase current' : i < present ? 'phase past' : 'phase'}
              data-kind={phase.kind}
              aria-current={is_current ? 'step' : undefined}
              style={width(i)}
            >
              <button
                type="button"
                className="phase-segment"
                aria-pressed={selected === i}
                aria-label={`Phase ${i + 1}, ${name}, ${methodName(phase)}, ${formatSteps(steps)}`}
                title={`${i + 1} ${name}, ${methodName(phase)}, ${formatSteps(steps)}`}
                onClick={() => setChosen(selected === i ? undefined : i)}
                onKeyDown={(event) => onSegmentKey(event, i)}
              >
                <span className="phase-track">
                  <span
                    className="phase-done"
                    style={{ width: `${i < present ? 100 : Math.min(1, done / steps) * 100}%` }}
                  />
                </span>
                <span className="phase-name" data-testid={is_current ? 'phase-name' : undefined}>
                  {phaseMark(i + 1)} {phase.name}
                </span>
                <span className="phase-note soft">
                  {taken ?? formatSteps(Math.max(done, steps))}
                  {is_current && is_ending ? ', ends here' : ''}
                  {i < present && ended ? endWords(ended.reason) : ''}
                  {`, ${methodName(phase)}`}
                  {phase.kind === 'rl' ? `, layer ${phase.target_layer}` : ''}
                </span>
              </button>
              {canLengthen(i) ? (
                <div
                  role="separator"
                  tabIndex={0}
                  className="phase-boundary"
                  data-testid={`phase-boundary-${i}`}
                  aria-orientation="vertical"
                  aria-label={`End of phase ${i + 1}, ${phase.name}`}
                  aria-valuenow={steps}
                  aria-valuemin={least(i)}
                  aria-valuemax={MAX_STEPS}
                  aria-valuetext={formatSteps(steps)}
                  title="Drag, or press the arrow keys, to make the phase longer or shorter"
                  onKeyDown={(event) => onBoundaryKey(event, i)}
                  onPointerDown={(event) => onGrab(event, i)}
                  onPointerMove={onDrag}
                  onPointerUp={onDrop}
                  onPointerCancel={() => setDrag(undefined)}
                >
                  {drag?.index === i ? <output>{formatSteps(steps)}</output> : null}
                </div>
              ) : null}
            </li>
          )
        })}
      </ol>
      <div className="timeline-tools" hidden={is_past}>
        {selected === undefined ? (
          <span className="soft timeline-hint">Choose a phase to move or remove it.</span>
        ) : (
          <>
            <span className="timeline-chosen">
              {phaseMark(selected + 1)} {phases[selected].name}
            </span>
            <Tool
              label={`Move phase ${selected + 1} earlier`}
              enabled={selected > 0 && canMove(selected) && canMove(selected - 1)}
              onClick={() => move(selected, selected - 1)}
            >
              <ArrowLeft className="icon" aria-hidden="true" />
            </Tool>
            <Tool
              label={`Move phase ${selected + 1} later`}
              enabled={selected + 1 < phases.length && canMove(selected)}
              onClick={() => move(selected, selected + 1)}
            >
              <ArrowRight className="icon" aria-hidden="true" />
            </Tool>
            <Tool
              label={`Remove phase ${selected + 1}`}
              enabled={canMove(selected) && phases.length > 1}
              onClick={() => remove(selected)}
            >
              <Trash2 className="icon" aria-hidden="true" />
            </Tool>
          </>
        )}
        <span className="timeline-gap" />
        {is_busy ? (
          <button
            type="button"
            data-testid="repeat-phase"
            disabled={phases.length >= MAX_PHASES}
            title={phases.length < MAX_PHASES ? 'The present phase once more after itself' : FULL}
            onClick={() => {
              if (tell(steer({ kind: 'repeat_phase' })))
                setSaid(`${phases[current]?.name} will be repeated`)
            }}
          >
            <Repeat className="icon" aria-hidden="true" /> Repeat phase
          </button>
        ) : null}
        <AddPhases
          experiment={experiment}
          is_busy={is_busy}
          icon={<ListPlus className="icon" aria-hidden="true" />}
          onSaid={setSaid}
        />
      </div>
      {is_edited && !is_busy && !is_past ? (
        <p className="soft" data-testid={left_out > 0 ? 'steering-left-out' : 'settings-differ'}>
          The settings are no longer those of the run on screen: <strong>Train again</strong> begins
          with them as they are
          {left_out > 0
            ? `, without the ${left_out === 1 ? 'change' : `${left_out} changes`} made by hand while it ran`
            : ''}
          .
        </p>
      ) : null}
      <p className="visually-hidden" role="status" data-testid="phases-said">
        {said}
      </p>
    </div>
  )
}

function Tool(props: {
  label: string
  enabled: boolean
  onClick: () => void
  children: React.ReactNode
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
