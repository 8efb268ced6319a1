// Everything the page can be told to do, declared once: the palette, the keys and their list are drawn from here.

import { sameSettings } from '../../lab/experiment/experiment.ts'
import { TABS, type Tab } from '../../lab/links/view.ts'
import { profileStep, restart, stepOnce, traceStep } from '../../lab/page/client/controls.ts'
import { discardEdits } from '../../lab/page/client/edits.ts'
import { choosePreset } from '../../lab/page/client/opening.ts'
import { reset } from '../../lab/page/client/starting.ts'
import { nextPhase } from '../../lab/page/client/steering.ts'
import { labStore } from '../../lab/page/store.ts'
import { presetOf } from '../../lab/presets/presets.ts'
import {
  canNextPhase,
  canProfile,
  canReset,
  canStep,
  canToggle,
  copyLink,
  toggleLabel,
  toggleTraining,
} from '../base/actions.ts'
import { historyStore, redo, undo } from '../base/history.ts'
import { selectIsBusy, selectIsEdited } from '../base/run.ts'
import { shownStep, shownStore } from '../base/shown.ts'
import { openTab, setPreference, showToast, uiStore } from '../base/store.ts'
import { follow, scrubKept } from '../learning/scrub.ts'
import { copyReport } from '../notices/report.ts'
import { canKeepAwake } from '../notices/wake_lock.ts'
import type { Command } from './command.ts'
import { showDialog } from './dialogs.ts'
import { chooseFile, saveExperiment, saveMetrics } from './files.ts'

const tell = (words: string | undefined): void => {
  if (words !== undefined) showToast(words)
}

const always = (name: string) => () => name

const hasSteps = () => shownStore.getState().series.size > 0

/** Opens the settings and puts the focus on their search. */
function searchSettings(): void {
  setPreference({ settings_open: true })
  requestAnimationFrame(() => document.getElementById('settings-search')?.focus())
}

const RUN: readonly Command[] = [
  {
    id: 'train',
    group: 'Run',
    name: (state) => (state ? toggleLabel(state) : 'Train, pause, go on'),
    keys: ['Space'],
    also: 'start run play stop resume',
    can: canToggle,
    run: toggleTraining,
  },
  {
    id: 'step',
    group: 'Run',
    name: always('One step, then pause'),
    keys: ['S'],
    also: 'single',
    can: canStep,
    run: stepOnce,
  },
  {
    id: 'next-phase',
    group: 'Run',
    name: always('End this phase, begin the next'),
    keys: ['N'],
    also: 'next phase skip',
    can: canNextPhase,
    run: nextPhase,
  },
  {
    id: 'reset',
    group: 'Run',
    name: always('Reset the run'),
    keys: ['R'],
    also: 'stop drop begin again',
    can: canReset,
    run: reset,
  },
  {
    id: 'restart',
    group: 'Run',
    name: always('Restart with the changed settings'),
    also: 'apply',
    can: (state) => selectIsBusy(state) && selectIsEdited(state),
    run: restart,
  },
  {
    id: 'profile',
    group: 'Run',
    name: always('Measure a step on the GPU'),
    also: 'profile profiler time speed',
    can: (state) => canProfile(state) && !state.is_profiling,
    run: () => {
      openTab('gpu')
      profileStep()
    },
  },
  {
    id: 'trace',
    group: 'Run',
    name: always('Show a step token by token'),
    also: 'trace slow motion stages',
    can: ({ status, is_tracing }) => (status === 'running' || status === 'paused') && !is_tracing,
    run: () => {
      openTab('tokens')
      traceStep()
    },
  },
]

const SETTINGS: readonly Command[] = [
  {
    id: 'undo',
    group: 'Settings',
    name: (state) => {
      const entry = historyStore.getState().past.at(-1)
      return state && entry ? `Undo ${entry.words}` : 'Undo a change'
    },
    keys: ['Mod+Z'],
    can: () => historyStore.getState().past.length > 0,
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
    name: always('Search the settings'),
    keys: ['/'],
    also: 'find field',
    run: searchSettings,
  },
  {
    id: 'discard',
    group: 'Settings',
    name: always('Discard changes that the run does not follow'),
    can: (state) => selectIsBusy(state) && selectIsEdited(state),
    run: discardEdits,
  },
  {
    id: 'back-to-preset',
    group: 'Settings',
    name: always('Back to the preset'),
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

const FILES: readonly Command[] = [
  {
    id: 'copy-link',
    group: 'Files',
    name: always('Copy link'),
    also: 'share url',
    run: () => void copyLink(),
  },
  {
    id: 'open-file',
    group: 'Files',
    name: always('Open file…'),
    also: 'load import experiment json',
    run: chooseFile,
  },
  {
    id: 'save-experiment',
    group: 'Files',
    name: always('Save experiment as JSON'),
    also: 'download export',
    run: saveExperiment,
  },
  {
    id: 'save-csv',
    group: 'Files',
    name: always('Download metrics as CSV'),
    also: 'export save table',
    can: hasSteps,
    run: () => saveMetrics('csv'),
  },
  {
    id: 'save-jsonl',
    group: 'Files',
    name: always('Download metrics as JSON lines'),
    also: 'export save jsonl',
    can: hasSteps,
    run: () => saveMetrics('jsonl'),
  },
]

const STEPS: readonly Command[] = [
  {
    id: 'step-before',
    group: 'Steps',
    name: always('Look at the kept step before'),
    keys: ['['],
    also: 'scrub time back',
    can: () => hasSteps() && shownStep() > 0,
    run: () => scrubKept(-1),
  },
  {
    id: 'step-after',
    group: 'Steps',
    name: always('Look at the kept step after'),
    keys: [']'],
    also: 'scrub time forward',
    can: () => uiStore.getState().at_step !== undefined,
    run: () => scrubKept(1),
  },
  {
    id: 'step-newest',
    group: 'Steps',
    name: always('Follow the newest step'),
    keys: ['End'],
    also: 'scrub time latest live',
    can: () => uiStore.getState().at_step !== undefined,
    run: follow,
  },
]

const TAB_NAMES: Readonly<Record<Tab, readonly [key: string, name: string, also: string]>> = {
  learn: ['L', 'Learning', 'charts reward entropy'],
  inside: ['I', 'Inside', 'layers'],
  tokens: ['T', 'Tokens', 'responses samples'],
  runs: ['R', 'Runs', 'compare history'],
  gpu: ['G', 'GPU', 'memory profiler'],
}

const PARTS: readonly Command[] = TABS.map((tab) => {
  const [key, name, also] = TAB_NAMES[tab]
  return {
    id: `tab-${tab}`,
    group: 'Parts of the page',
    name: always(`Go to ${name}`),
    keys: [`G ${key}`],
    also: `tab ${also}`,
    run: () => openTab(tab),
  }
})

const PAGE: readonly Command[] = [
  {
    id: 'palette',
    group: 'Page',
    name: always('Commands'),
    keys: ['Mod+K'],
    run: () => showDialog('palette'),
  },
  {
    id: 'help',
    group: 'Page',
    name: always('Keyboard shortcuts'),
    keys: ['?'],
    also: 'help keys',
    run: () => showDialog('help'),
  },
  {
    id: 'report',
    group: 'Page',
    name: always('Copy report'),
    also: 'diagnostics bug help versions support',
    run: () => void copyReport(),
  },
  {
    id: 'keep-awake',
    group: 'Page',
    name: (state) =>
      state && uiStore.getState().keep_awake
        ? 'Let the screen sleep during runs'
        : 'Keep the screen awake during runs',
    also: 'wake lock sleep',
    can: canKeepAwake,
    run: () => setPreference({ keep_awake: !uiStore.getState().keep_awake }),
  },
  ...(['system', 'light', 'dark'] as const).map(
    (theme): Command => ({
      id: `theme-${theme}`,
      group: 'Page',
      name: always(theme === 'system' ? 'Colours as the system has them' : `Colours: ${theme}`),
      also: 'theme mode',
      can: () => uiStore.getState().theme !== theme,
      run: () => setPreference({ theme }),
    }),
  ),
]

export const COMMANDS: readonly Command[] = [
  ...RUN,
  ...SETTINGS,
  ...FILES,
  ...STEPS,
  ...PARTS,
  ...PAGE,
]
