// Shows undo and redo of settings.
import { Redo2, Undo2 } from 'lucide-react'
import { useStore } from 'zustand'
import { wrongFields } from '../../page/client/edits.ts'
import type { LabState } from '../../page/state/store.ts'
import { IS_MAC, keyWords } from '../kit/input/keys.ts'
import { useLab } from '../shown/run.ts'
import { showToast } from '../shown/store.ts'
import { type History, historyStore, PHASES_STAY, redo, skipsPhases, undo } from './history.ts'

const selectUndo = ({ past }: History) => past.at(-1)?.words
const selectRedo = ({ future }: History) => future[0]?.words

const BUTTONS = [
  { id: 'undo', verb: 'Undo', keys: 'Mod+Z', select: selectUndo, act: undo, Icon: Undo2 },
  { id: 'redo', verb: 'Redo', keys: 'Mod+Shift+Z', select: selectRedo, act: redo, Icon: Redo2 },
] as const

const selectWrong = (state: LabState) => wrongFields(state)

function HistoryButton({ id, verb, keys, select, act, Icon }: (typeof BUTTONS)[number]) {
  const wrong = useLab(selectWrong).at(-1)
  const own = useStore(historyStore, select)
  const words = id === 'undo' && wrong ? `${wrong.label} ${wrong.text}` : own
  const skips = useLab((state) => id === 'undo' && skipsPhases(state, historyStore.getState()))
  const nothing = skips ? PHASES_STAY : `Nothing to ${verb.toLowerCase()}`
  const label = words === undefined ? nothing : `${verb} ${words}`
  return (
    <button
      type="button"
      className="plain history-button"
      data-testid={id}
      aria-disabled={words === undefined}
      aria-label={label}
      title={words === undefined ? label : `${label} (${keyWords(keys, IS_MAC)})`}
      onClick={() => {
        const done = act()
        if (done !== undefined) showToast(done)
      }}
    >
      <Icon className="icon" aria-hidden="true" />
    </button>
  )
}

/** Undo and redo of settings, each with what it would do. */
export function HistoryButtons() {
  return BUTTONS.map((button) => <HistoryButton key={button.id} {...button} />)
}
