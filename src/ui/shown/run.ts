// Selects what the page reads of the lab: selectors in one place, numbers straight from the
// columns.

import { useMemo } from 'react'
import { useStore } from 'zustand'
import { sameSettings } from '../../document/experiment/experiment.ts'
import { preferenceLabel } from '../../document/experiment/fields/preference_fields.ts'
import { resolvePhases } from '../../document/experiment/resolve.ts'
import type { Experiment } from '../../document/experiment/schema/schema.ts'
import { plannedTotal } from '../../document/experiment/steered/planned.ts'
import { doneByHand } from '../../document/experiment/steering/steered_kernels.ts'
import { readoutWords } from '../../document/experiment/steering/words.ts'
import { nextExperiment, runSoFar } from '../../page/state/next_experiment.ts'
import { type LabState, labStore } from '../../page/state/store.ts'
import { isBusy } from '../../record/run/run_parts.ts'
import type { Columns } from '../scales/columns.ts'
import type { Domain } from '../scales/domain.ts'
import type { PhaseSpan } from '../scales/geometry.ts'
import { equalPhases, type StepScale } from '../scales/step_scale.ts'
import { shownSteps } from '../scales/zoom.ts'
import { overlaysEnd } from './overlays.ts'
import { shownStore, useShown } from './shown.ts'
import { type UiState, uiStore } from './store.ts'

/** A part of the lab's state; `selector` is a module-level function. */
export function useLab<T>(selector: (state: LabState) => T): T {
  return useStore(labStore, selector)
}

/** The experiment that the numbers on screen belong to: the run's, else the one that would be
 * run. */
export const shownExperiment = (state: LabState): Experiment =>
  state.runExperiment ?? state.experiment

/** Columns of a metric of the shown run; undefined before its first value. */
export function seriesOf(metric: string): Columns | undefined {
  return shownStore.getState().series.get(metric)
}

/** The newest step of the shown run. */
export const lastStep = (): number => shownStore.getState().step

/** The last step that the charts draw: of the shown run, or of one behind it. */
export const lastDrawnStep = (): number => Math.max(lastStep(), overlaysEnd().last)

/** Steps of the whole run: those that were taken, and those to come with all that its document says
 * is done by hand. */
export const plannedSteps = (state: LabState): number => plannedTotal(runSoFar(state))

/** Whether a reward model takes part in an experiment. */
export const hasRewardPhase = (state: LabState): boolean =>
  shownExperiment(state).phases.some(({ kind }) => kind === 'reward_model')

/** Whether pairs teach in an experiment: a reward model, or a policy itself. */
export const hasPairs = (state: LabState): boolean =>
  shownExperiment(state).phases.some((phase) => 'pairs' in phase)

type Phase = ReturnType<typeof resolvePhases>[number]

/** The phases of the shown experiment with names given and layers as numbers. */
export const shownPhases = (state: LabState): readonly Phase[] =>
  resolvePhases(shownExperiment(state))

/** Whose policy a phase trains. */
export function phaseTarget(phase: Phase, lastLayer: number): string {
  if (phase.kind === 'sft') return 'imitates demonstrations'
  if (phase.kind === 'reward_model') return 'learns which responses are preferred'
  const whose =
    phase.target_layer === lastLayer
      ? 'final policy'
      : `policy of layer ${phase.target_layer}${readoutWords(phase.target_readout)}`
  if (phase.kind === 'preference') return `teaches the ${whose} which responses are preferred`
  if (phase.kind === 'distill') return `teaches the ${whose} what its teacher says`
  return phase.reward_model.enable
    ? `trains the ${whose} on the reward model’s scores`
    : `trains the ${whose}`
}

const selectZoom = ({ zoom }: UiState) => zoom

/** The right end of that axis: it holds the shown run and all that are drawn behind it. */
export function stepEnd(zoom: UiState['zoom']): number {
  const state = shownStore.getState()
  const behind = overlaysEnd().planned
  // Without a run, what is planned is nothing that the charts show.
  const own = state.series.size > 0 || behind === 0 ? plannedSteps(state) : 0
  const newest = lastDrawnStep()
  return shownSteps({ zoom, newest, planned: Math.max(own, behind) })[1]
}

/** Every chart's step axis: what was zoomed to, else the whole run. */
export function useStepDomain(): Domain {
  const zoom = useStore(uiStore, selectZoom)
  // The ends change seldom: only then is anything rendered.
  const low = zoom?.low ?? 0
  const high = useStore(uiStore, () => stepEnd(zoom))
  return useMemo(() => [low, high], [low, high])
}

/** How long each phase is or was, as a text that stays the same until one of them changes. */
function selectStretches(state: LabState): string {
  const { phase_switches } = state
  const stretches = shownPhases(state).map(({ steps }, i) => {
    const begin = phase_switches.find(({ phase }) => phase === i)?.step
    const end = phase_switches.find(({ phase }) => phase === i + 1)?.step
    return begin === undefined || end === undefined ? steps : end - begin
  })
  return JSON.stringify(stretches)
}

const selectEqualPhases = ({ equal_phases }: UiState) => equal_phases

/** Whether a person asked for phases of equal width. */
export const useEqualPhases = (): boolean => useStore(uiStore, selectEqualPhases)

/** The scale of every axis of steps where phases have equal width; undefined for an even axis. */
export function useStepScale(): StepScale | undefined {
  const stretches = useShown(selectStretches)
  const isEqual = useEqualPhases()
  return useMemo(
    () => (isEqual ? equalPhases(JSON.parse(stretches)) : undefined),
    [stretches, isEqual],
  )
}

/** Responses of a step whose tokens every layer's entropy is of. */
export const selectProbeRows = (state: LabState): number => shownExperiment(state).probe.rows

const selectSwitches = (state: LabState) => state.phase_switches

/** The phases that have begun, for shades and markers. */
export function usePhaseSpans(): readonly PhaseSpan[] {
  const switches = useShown(selectSwitches)
  const phases = useShown(shownPhases)
  return useMemo(
    () =>
      switches
        .filter(({ phase }) => phase < phases.length)
        .map(({ step, phase }, i) => ({
          step,
          end: switches[i + 1]?.step ?? step + phases[phase].steps,
          number: phase + 1,
          name: phases[phase].name,
          isSft: phases[phase].kind === 'sft',
        })),
    [switches, phases],
  )
}

type Reason = LabState['phase_switches'][number]['reason']

const REASONS: Readonly<Record<Reason, string>> = {
  start: 'the run began',
  steps: 'the steps before it were done',
  next_phase: 'ended by hand',
  insert_phase: 'inserted by hand',
  accuracy: 'accuracy reached',
  score: 'reward reached',
  plateau: 'reward on a plateau',
  entropy_floor: 'entropy below its floor',
}

/** Why a phase began. */
export const reasonWords = (reason: Reason): string =>
  ['start', 'steps', 'insert_phase'].includes(reason)
    ? REASONS[reason]
    : `the phase before it: ${REASONS[reason]}`

/** Why the phase before it ended, behind its name; nothing where its steps were done. */
export const endWords = (reason: Reason): string =>
  reason === 'steps' ? '' : `, ${reason === 'insert_phase' ? 'ended by hand' : REASONS[reason]}`

/** Whose method a phase follows, in a word. */
export function methodName(phase: Phase | Experiment['phases'][number]): string {
  if (phase.kind === 'sft') return 'SFT'
  if (phase.kind === 'reward_model') return 'Bradley–Terry'
  if (phase.kind === 'preference') return preferenceLabel(phase.preference)
  if (phase.kind === 'distill') return 'distillation'
  if (phase.adv_estimator === 'gae') return 'PPO (GAE)'
  return phase.adv_estimator.toUpperCase().replaceAll('_PLUS', '+').replaceAll('_', ' ')
}

/** What the next run leaves out, because the settings are no longer those of the run: how often it
 * was steered. Another experiment had none of it. */
export function selectLeftOut(state: LabState): number {
  const { runDocument, isBeside } = state
  if (!runDocument || isBeside || nextExperiment(state) === runDocument) return 0
  return doneByHand(runDocument.steering).length
}

export const selectLastLayer = (state: LabState) => shownExperiment(state).model.num_hidden_layers

/** L: the number of blocks, and the index of the final policy. */
export const useLastLayer = (): number => useShown(selectLastLayer)

/** The first phase of the settings that may still be moved or take another layer. */
export const selectFirstOpenPhase = (state: LabState): number =>
  isBusy(state) && !state.isBeside ? state.phase + 1 : 0

export const selectStatus = (state: LabState) => state.status

/** Whether a run was begun, or is shown. */
export const selectHasRun = ({ runExperiment }: LabState): boolean => runExperiment !== undefined
/** True from Train until the run is over or dropped. */
export const selectIsBusy = ({ status }: LabState) =>
  status === 'preparing' || status === 'running' || status === 'paused' || status === 'waiting'

/** The run's experiment is no longer what the settings say. */
export const selectIsEdited = ({ runExperiment, experiment, isBeside }: LabState) =>
  runExperiment !== undefined && (isBeside || !sameSettings(runExperiment, experiment))
