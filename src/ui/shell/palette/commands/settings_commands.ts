// Lists the commands on the settings.
import { sameSettings } from '../../../../document/experiment/experiment.ts'
import { presetOf } from '../../../../document/presets/presets.ts'
import { discardEdits } from '../../../../page/client/button_edits.ts'
import { wrongFields } from '../../../../page/client/edits.ts'
import { choosePreset } from '../../../../page/client/opening.ts'
import { labStore } from '../../../../page/state/store.ts'
import { historyStore, redo, undo } from '../../../settings/history.ts'
import { selectIsBusy, selectIsEdited } from '../../../shown/run.ts'
import { setPreference, showToast, uiStore } from '../../../shown/store.ts'
import type { Command } from './command.ts'

const tell = (words: string | undefined): void => {
  if (words !== undefined) showToast(words)
}

/** Frames in which the settings are awaited: their file may still be on its way. */
const MOST_FRAMES = 300

/** Opens the settings and puts the focus on their search. */
function searchSettings(): void {
  setPreference({ settings_open: true })
  let left = MOST_FRAMES
  const focus = () => {
    const search = document.getElementById('settings-search')
    if (search) search.focus()
    else if (left-- > 0) requestAnimationFrame(focus)
  }
  requestAnimationFrame(focus)
}

export const SETTINGS_COMMANDS: readonly Command[] = [
  {
    id: 'undo',
    group: 'Settings',
    name: (state) => {
      const entry = historyStore.getState().past.at(-1)
      return state && entry ? `Undo ${entry.words}` : 'Undo a change'
    },
    keys: ['Mod+Z'],
    can: () =>
      historyStore.getState().past.length > 0 || wrongFields(labStore.getState()).length > 0,
    run: () => tell(undo()),
  },
  {
    id: 'redo',
    group: 'Settings',
    name: (state) => {
      const [entry] = historyStore.getState().future
      return state && entry ? `Redo ${entry.words}` : 'Redo a change'
    },
    keys: ['Mod+Shift+Z', 'Mod+Y'],
    can: () => historyStore.getState().future.length > 0,
    run: () => tell(redo()),
  },
  {
    id: 'search',
    group: 'Settings',
    name: () => 'Search the settings',
    keys: ['/'],
    also: 'find field',
    run: searchSettings,
  },
  {
    id: 'discard',
    group: 'Settings',
    name: () => 'Discard changes that the run does not follow',
    can: (state) => selectIsBusy(state) && selectIsEdited(state),
    run: discardEdits,
  },
  {
    id: 'back-to-preset',
    group: 'Settings',
    name: () => 'Back to the preset',
    also: 'reset settings default',
    can: ({ experiment, preset_id }) => {
      const preset = presetOf(preset_id)
      return preset !== undefined && !sameSettings(preset.experiment, experiment)
    },
    run: () => choosePreset(labStore.getState().preset_id),
  },
  {
    id: 'toggle-settings',
    group: 'Settings',
    name: (state) =>
      state
        ? `${uiStore.getState().settings_open ? 'Fold' : 'Show'} the settings`
        : 'Fold or show the settings',
    also: 'hide sidebar panel',
    run: () => setPreference({ settings_open: !uiStore.getState().settings_open }),
  },
]
