// Finds the phases of the shown experiment, how far each has come, how wide it is on the line, and
// what may still be changed about it.
import { useMemo, useState } from 'react'
import { sameSettings } from '../../document/experiment/experiment.ts'
import { resolvePhases } from '../../document/experiment/resolve.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { isEnding as selectIsEnding } from '../../document/experiment/steered/planned.ts'
import type { LabState } from '../../page/state/store.ts'
import { isBusy as selectIsBusy } from '../../record/run/run_parts.ts'
import { phaseShares } from '../scales/step_scale.ts'
import { useTextPace, writtenRun } from '../shown/readout.ts'
import { useEqualPhases, useLab } from '../shown/run.ts'
import { useIsPast, usePresent } from '../shown/shown.ts'

const selectHasSteps = (state: LabState) => state.step > 0
const selectIsFinished = ({ status }: LabState) => status === 'finished'
/** The line shows the run while there is one that the settings have not left behind. */
const selectHasBegun = (state: LabState) =>
  state.runExperiment !== undefined &&
  (selectIsBusy(state) || sameSettings(state.experiment, state.runExperiment))

const lengthened = new WeakMap<Experiment, { by: Experiment; shown: Experiment }>()

/** What the line shows. Lengths that were just changed are those of the settings, which the run
 * follows; all else that they say waits for the next run. */
export function selectShown(state: LabState): Experiment {
  const { experiment, runExperiment } = state
  if (experiment === runExperiment || !selectHasBegun(state) || !runExperiment) return experiment
  const phases = ({ phases }: Experiment) =>
    JSON.stringify(phases.map((phase) => ({ ...phase, steps: 0 })))
  const isOfRun = !state.isBeside && experiment.name === runExperiment.name
  if (!isOfRun || phases(experiment) !== phases(runExperiment)) return runExperiment
  const known = lengthened.get(runExperiment)
  if (known?.by === experiment) return known.shown
  const shown = { ...runExperiment, phases: experiment.phases }
  lengthened.set(runExperiment, { by: experiment, shown })
  return shown
}

export interface Timeline {
  readonly experiment: Experiment
  readonly phases: ReturnType<typeof resolvePhases>
  readonly switches: LabState['phase_switches']
  /** Index of the phase that the run is in; it may belong to a run that the line does not show. */
  readonly current: number
  /** The same while the line shows the run, else -1. */
  readonly present: number
  /** The line shows what the next run does, beside the steps of the one on screen. */
  readonly isNext: boolean
  readonly isBusy: boolean
  readonly isPast: boolean
  readonly is_finished: boolean
  /** The present phase ends after the step in flight. */
  readonly isEnding: boolean
  /** Steps that a phase has taken, where it is over or under way. */
  readonly doneOf: (index: number) => number
  /** A phase that is over is as long as it was. */
  readonly lengthOf: (index: number) => number
  /** The fewest steps that a phase can be given now. */
  readonly least: (index: number) => number
  readonly canLengthen: (index: number) => boolean
  readonly canMove: (index: number) => boolean
}

/** How long a phase is: as long as it was where it is over, or a person has ended it, also while
 * the run is paused before the next one. */
export function phaseLength(
  index: number,
  {
    phases,
    present,
    isEnding,
    doneOf,
  }: Pick<Timeline, 'phases' | 'present' | 'isEnding' | 'doneOf'>,
): number {
  const isOver = index < present || (isEnding && index === present)
  return isOver ? doneOf(index) : phases[index].steps
}

/** The timeline of the shown run or of the settings; renders when the page writes words. */
export function useTimeline(): Timeline {
  const experiment = usePresent(selectShown)
  const phases = useMemo(() => resolvePhases(experiment), [experiment])
  const hasBegun = usePresent(selectHasBegun)
  const isBusy = useLab(selectIsBusy)
  const isPast = useIsPast()
  const is_finished = usePresent(selectIsFinished)
  const isEnding = useLab(selectIsEnding) && isBusy && !isPast
  useTextPace()
  const { phase: current, phase_step: phaseStep, phase_switches: switches } = writtenRun()
  const hasSteps = usePresent(selectHasSteps)
  const present = hasBegun ? current : -1
  const doneOf = (index: number) => {
    if (index >= present) return index === present ? phaseStep : 0
    const step = (of: number) => switches.find(({ phase }) => phase === of)?.step ?? 0
    return step(index + 1) - step(index)
  }
  return {
    experiment,
    phases,
    switches,
    current,
    present,
    isNext: hasSteps && !hasBegun,
    isBusy,
    isPast,
    is_finished,
    isEnding,
    doneOf,
    lengthOf: (index) => phaseLength(index, { phases, present, isEnding, doneOf }),
    least: (index) => (isBusy && index === current ? Math.max(1, phaseStep) : 1),
    canLengthen: (index) => !isPast && (!isBusy || index >= current),
    canMove: (index) => !isPast && (!isBusy || index > current),
  }
}

/** The end of a phase while it is dragged along the line. */
export interface Drag {
  readonly index: number
  readonly fromX: number
  readonly widths: readonly number[]
  readonly pixelsPerStep: number
  readonly steps: number
}

/** Where the phases lie on the line: each as wide as it is long, also while an end is dragged. */
export function usePhaseLine({ phases, lengthOf }: Timeline) {
  const [drag, setDrag] = useState<Drag>()
  const shares = phaseShares(
    phases.map((_, i) => lengthOf(i)),
    useEqualPhases(),
  )
  return {
    drag,
    setDrag,
    /** Steps that a phase would have where its end is now; undefined for all others. */
    draggedSteps: (index: number) => (drag?.index === index ? drag.steps : undefined),
    /** While an end is dragged the other phases stay where they are. */
    widthOf: (index: number) => {
      if (!drag) return { flexGrow: shares[index] }
      const more = index === drag.index ? drag.steps - phases[index].steps : 0
      return { flex: `0 0 ${Math.max(8, drag.widths[index] + more * drag.pixelsPerStep)}px` }
    },
  }
}

export type Line = ReturnType<typeof usePhaseLine>
