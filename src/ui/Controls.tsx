import { CircleHelp, Link, Pause, Play, RotateCcw, SkipForward, StepForward } from 'lucide-react'
import { type ReactNode, type RefObject, useEffect, useRef } from 'react'
import { useStore } from 'zustand'
import { choosePreset, nextPhase, reset, shareLink, stepOnce } from '../lab/client.ts'
import { PRESETS } from '../lab/presets.ts'
import { replayStore } from '../lab/replay.ts'
import type { LabState } from '../lab/store.ts'
import {
  canNextPhase,
  canReset,
  canStep,
  canToggle,
  toggleLabel,
  toggleTraining,
} from './actions.ts'
import { ReplayBar } from './replay/ReplayBar.tsx'
import { selectIsReplaying } from './replay/replays.ts'
import { useLab } from './run.ts'
import { FullPage } from './share/FullPage.tsx'
import { useLocked } from './share/locked.ts'
import { ShareDialog } from './share/ShareDialog.tsx'
import { listenToKeys, SHORTCUTS } from './shortcuts.ts'
import { setPreference, showToast, type UiState, uiStore } from './store.ts'

const selectPreset = (state: LabState) => state.preset_id

function Preset() {
  const preset_id = useLab(selectPreset)
  const chosen = PRESETS.find((preset) => preset.id === preset_id)
  return (
    <label className="preset" title={chosen?.summary}>
      <span className="visually-hidden">Experiment</span>
      <select
        id="preset"
        data-testid="preset"
        disabled={useLocked('experiment')}
        value={preset_id}
        onChange={(event) => choosePreset(event.target.value)}
      >
        {PRESETS.map((preset) => (
          <option key={preset.id} value={preset.id}>
            {preset.name}
          </option>
        ))}
      </select>
    </label>
  )
}

async function copyLink() {
  const { url, says } = shareLink()
  try {
    await navigator.clipboard.writeText(url)
    showToast(`Link copied: ${says}`)
  } catch {
    // The clipboard is refused: the address bar still holds the link.
    history.replaceState(null, '', url)
    showToast('The browser keeps the clipboard closed. The link is now in the address bar.')
  }
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

/** Nothing is trained while a recording plays. */
const REPLAYED: Readonly<Record<string, string>> = { Train: 'Play', 'Train again': 'Play again' }

const selectIsIdle = (state: LabState) => state.status === 'idle'

export function Controls() {
  const label = useLab(toggleLabel)
  const can_toggle = useLab(canToggle)
  const is_first = useLab(selectIsIdle)
  const is_replaying = useStore(replayStore, selectIsReplaying)
  const can_end_phase = useLab(canNextPhase)
  const phases_locked = useLocked('phases')
  const help = useRef<HTMLDialogElement>(null)
  useEffect(() => listenToKeys(() => help.current?.showModal()), [])
  return (
    <section className="controls" aria-label="Training controls">
      <Preset />
      <button
        type="button"
        id="train"
        data-testid={label === 'Pause' ? 'pause' : 'train'}
        className={is_first ? 'primary pulse' : 'primary'}
        disabled={!can_toggle}
        onClick={toggleTraining}
      >
        {label === 'Pause' ? <Pause className="icon" /> : <Play className="icon" />}
        {is_replaying ? (REPLAYED[label] ?? label) : label}
      </button>
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
        enabled={can_end_phase && !phases_locked}
        icon={<SkipForward className="icon" />}
        onClick={nextPhase}
      />
      <Action
        id="reset"
        label="Reset"
        hint="Drop this run; the same seed starts the same run again (R)"
        enabled={useLab(canReset)}
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
      <button
        type="button"
        id="help"
        data-testid="help"
        className="plain"
        aria-label="Keyboard shortcuts"
        onClick={() => help.current?.showModal()}
      >
        <CircleHelp className="icon" aria-hidden="true" />
      </button>
      <Help dialog={help} />
      <FullPage />
      <ReplayBar />
    </section>
  )
}

const selectShortcuts = (state: UiState) => state.shortcuts_on

function Help({ dialog }: { dialog: RefObject<HTMLDialogElement | null> }) {
  const shortcuts_on = useStore(uiStore, selectShortcuts)
  return (
    <dialog ref={dialog} aria-labelledby="help-title">
      <h2 id="help-title">Keyboard</h2>
      <dl className="keys">
        {SHORTCUTS.map(({ key, does }) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <label className="check">
        <input
          type="checkbox"
          checked={shortcuts_on}
          onChange={(event) => setPreference({ shortcuts_on: event.target.checked })}
        />
        Use these keys
      </label>
      <button type="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  )
}
