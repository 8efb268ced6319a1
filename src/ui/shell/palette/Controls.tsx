// Draws the bar of controls: which experiment, Train, and what can be done with the run.
import {
  CircleHelp,
  LayoutGrid,
  Link,
  Pause,
  Play,
  RotateCcw,
  SkipForward,
  StepForward,
} from 'lucide-react'
import { type MouseEvent, type ReactNode, useEffect } from 'react'
import { useStore } from 'zustand'
import { sameSettings } from '../../../document/experiment/experiment.ts'
import { presetOf } from '../../../document/presets/presets.ts'
import { stepOnce } from '../../../page/client/controls.ts'
import { wrongFields } from '../../../page/client/edits.ts'
import { reset } from '../../../page/client/starting.ts'
import { nextPhase } from '../../../page/client/steering.ts'
import { replayStore } from '../../../page/state/replay.ts'
import type { LabState } from '../../../page/state/store.ts'
import { selectLacksGpu } from '../../../page/state/without_gpu.ts'
import { selectTrainsStudy, studyTrainingStore } from '../../../page/study/mark_training.ts'
import { IS_MAC, pressName } from '../../kit/input/keys.ts'
import {
  canNextPhase,
  canReset,
  canStep,
  canToggle,
  openPreset,
  replayedLabel,
  toggleLabel,
  toggleTraining,
} from '../../open/actions.ts'
import { showDialog } from '../../open/dialogs.ts'
import { useLocked } from '../../open/locked.ts'
import { selectIsReplaying } from '../../open/replays.ts'
import { later } from '../../part/later.tsx'
import { lazyPart } from '../../part/lazy_part.tsx'
import { PresetOptions } from '../../part/PresetOptions.tsx'
import { FullPage } from '../../share/FullPage.tsx'
import { ShareDialog } from '../../share/ShareDialog.tsx'
import { selectIsEdited, useLab } from '../../shown/run.ts'
import { useIsPast } from '../../shown/shown.ts'

const ReplayBar = later(
  'The bar of the recording',
  async () => (await import('../../replay/ReplayBar.tsx')).ReplayBar,
  () => useStore(replayStore, selectIsReplaying),
)

const selectPreset = (state: LabState) => state.preset_id

/** What the settings are called where they are no preset's, '' where they have the name of one;
 * undefined where they are a preset's. */
function selectOwnName({ preset_id, experiment }: LabState): string | undefined {
  const preset = presetOf(preset_id)
  const { name, steering } = experiment
  const isPlain = steering.length === preset?.experiment.steering.length
  if (!preset || (isPlain && sameSettings(experiment, preset.experiment))) return undefined
  return name && name !== preset.name ? name : ''
}

/** Which experiment. */
export function Choice() {
  const presetId = useLab(selectPreset)
  const ownName = useLab(selectOwnName)
  const isLocked = useLocked('experiment')
  const preset = presetOf(presetId)?.name ?? ''
  return (
    <div className="preset">
      <label>
        <span className="visually-hidden">Experiment</span>
        <select
          id="preset"
          data-testid="preset"
          disabled={isLocked}
          title={ownName === '' ? `Changed: ${preset}` : ownName}
          value={presetId}
          onChange={(event) => openPreset(event.target.value)}
        >
          {ownName === undefined ? null : (
            // The sign that the settings have: a word would cut the name off.
            <option value={presetId}>{ownName === '' ? `● ${preset}` : ownName}</option>
          )}
          <PresetOptions />
        </select>
      </label>
      <button
        type="button"
        data-testid="open-presets"
        className="plain"
        aria-label="Presets with pictures"
        title="Presets with pictures"
        disabled={isLocked}
        onClick={() => showDialog('presets')}
      >
        <LayoutGrid className="icon" aria-hidden="true" />
      </button>
    </div>
  )
}

function Action(props: {
  id: string
  label: string
  hint: string
  enabled: boolean
  icon: ReactNode
  onClick: () => void
}) {
  return (
    <button
      type="button"
      id={props.id}
      data-testid={props.id}
      className="action"
      title={props.hint}
      disabled={!props.enabled}
      onClick={props.onClick}
    >
      {props.icon}
      <span>{props.label}</span>
    </button>
  )
}

/** What makes a link is loaded when one is asked for. */
const copyLink = async () => (await import('../../share/choice_link.ts')).copyLink()

const selectIsIdle = (state: LabState) => state.status === 'idle'

function TrainButton() {
  const label = useLab(toggleLabel)
  const isGoing = label === 'Pause' || label === 'Pausing …'
  const mayToggle = useLab(canToggle)
  const isFirst = useLab(selectIsIdle)
  const isReplaying = useStore(replayStore, selectIsReplaying)
  const lacksGpu = useLab(selectLacksGpu)
  const isPast = useIsPast()
  const isEdited = useLab(selectIsEdited)
  // Both would share the GPU: the study continues, and a run makes it slower.
  const isBeside = useStore(studyTrainingStore, selectTrainsStudy) && label.startsWith('Train')
  const isAside = lacksGpu || isPast || isBeside || (label === 'Train again' && !isEdited)
  // The second click of a double click means what the first one meant.
  const press = ({ detail }: MouseEvent) => {
    if (detail < 2) toggleTraining()
  }
  return (
    <button
      type="button"
      id="train"
      data-testid={isGoing ? 'pause' : 'train'}
      // Without a GPU the first screen's button is the one that works, and a run that is over, or
      // past, offers better things than to train it once more.
      className={
        isFirst && !isPast && !isBeside ? 'primary pulse' : isAside ? undefined : 'primary'
      }
      disabled={!mayToggle}
      title={
        isPast && !mayToggle
          ? 'A past run is shown: use its settings, or go back'
          : isBeside
            ? 'Trains beside the study: both share the GPU and are slower'
            : undefined
      }
      onClick={press}
    >
      {isGoing ? (
        <Pause className="icon" />
      ) : lacksGpu ? (
        <RotateCcw className="icon" />
      ) : (
        <Play className="icon" />
      )}
      {isReplaying ? replayedLabel(label) : isBeside ? 'Train beside the study' : label}
    </button>
  )
}

const WrongFields = lazyPart(async () => (await import('./WrongFields.tsx')).WrongFields, {
  name: 'Why Train is off',
  fallback: null,
})

const selectIsWrong = (state: LabState) => wrongFields(state).length > 0

/** Why Train is off. */
function Wrong() {
  const isWrong = useLab(selectIsWrong)
  return (
    <p className="controls-wrong" role="status" data-testid="wrong-fields" hidden={!isWrong}>
      {isWrong ? <WrongFields /> : null}
    </p>
  )
}

/** The way to help and to the list of keys: after the controls, and beside the experiment on a
 * phone, where the controls are at the bottom. */
export function HelpButton() {
  return (
    <button
      type="button"
      id="help"
      data-testid="help"
      className="plain"
      aria-label="Help"
      title="Help and keyboard shortcuts"
      onClick={() => showDialog('help')}
    >
      <CircleHelp className="icon" aria-hidden="true" />
    </button>
  )
}

/** Keys come after the first paint, with all commands that they stand for. What is pressed before
 * is heard then. */
function listenSoon(): () => void {
  let isOver = false
  const early: KeyboardEvent[] = []
  const wait = (event: KeyboardEvent) => {
    early.push(event)
    // The browser has its own Ctrl+K.
    if (pressName(event, IS_MAC) === 'Mod+K') event.preventDefault()
  }
  document.addEventListener('keydown', wait)
  let stop = () => document.removeEventListener('keydown', wait)
  const listen = async () => (await import('./keys/shortcuts.ts')).listenToKeys
  listen()
    .then((listenToKeys) => {
      if (isOver) return
      stop()
      stop = listenToKeys()
      for (const event of early) event.target?.dispatchEvent(new KeyboardEvent('keydown', event))
    })
    // The palette asks for the same file again, and says when it cannot be loaded.
    .catch(() => {})
  return () => {
    isOver = true
    stop()
  }
}

export function Controls() {
  const canEndPhase = useLab(canNextPhase)
  // What it shows decides what can be trained.
  useIsPast()
  const phasesLocked = useLocked('phases')
  const isResettable = useLab(canReset)
  // Without a run it takes back what no field took.
  const isIdle = useLab(selectIsIdle)
  useEffect(listenSoon, [])
  return (
    <section className="controls" aria-label="Training controls">
      <TrainButton />
      <Action
        id="step"
        label="Step"
        hint="One training step, then pause (S)"
        enabled={useLab(canStep)}
        icon={<StepForward className="icon" />}
        onClick={stepOnce}
      />
      <Action
        id="next-phase"
        label="Next phase"
        hint="End this phase after the step in flight and begin the next (N)"
        enabled={canEndPhase && !phasesLocked}
        icon={<SkipForward className="icon" />}
        onClick={nextPhase}
      />
      <Action
        id="reset"
        label="Reset"
        hint={
          isResettable && isIdle
            ? 'Put the values from before back (R)'
            : 'Drop this run; the same seed starts the same run again (R)'
        }
        enabled={isResettable}
        icon={<RotateCcw className="icon" />}
        onClick={reset}
      />
      <Action
        id="copy-link"
        label="Copy link"
        hint="Copy a link that opens this experiment, seed included"
        enabled
        icon={<Link className="icon" />}
        onClick={copyLink}
      />
      <ShareDialog />
      <FullPage />
      <ReplayBar />
      <Wrong />
    </section>
  )
}
