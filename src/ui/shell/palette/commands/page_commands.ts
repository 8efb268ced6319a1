// Declares the ways around the page: its steps, its parts, its dialogs and its looks.
import { TABS, type Tab } from '../../../../document/links/view.ts'
import { lockedBecause } from '../../../../page/state/share_store.ts'
import { chooseLanguage, NOT_LOADED, otherLanguage } from '../../../language/language.ts'
import { showDialog } from '../../../open/dialogs.ts'
import { ALL_LESSONS, openLesson } from '../../../open/open_lesson.ts'
import { follow, scrubKept, showAllSteps } from '../../../open/scrub.ts'
import { copyReport } from '../../../part/report.ts'
import { shownStep } from '../../../shown/shown.ts'
import { canKeepAwake, openTab, setPreference, showToast, uiStore } from '../../../shown/store.ts'
import { type Command, hasSteps } from './command.ts'

export const STEP_COMMANDS: readonly Command[] = [
  {
    id: 'step-before',
    group: 'Steps of the run',
    name: () => 'Show the previous kept step',
    keys: ['['],
    also: 'scrub time back',
    can: () => hasSteps() && shownStep() > 0,
    run: () => scrubKept(-1),
  },
  {
    id: 'step-after',
    group: 'Steps of the run',
    name: () => 'Show the next kept step',
    keys: [']'],
    also: 'scrub time forward',
    can: () => uiStore.getState().atStep !== undefined,
    run: () => scrubKept(1),
  },
  {
    id: 'step-newest',
    group: 'Steps of the run',
    name: () => 'Follow the newest step',
    keys: ['End'],
    also: 'scrub time latest live',
    can: () => uiStore.getState().atStep !== undefined,
    run: follow,
  },
  {
    id: 'steps-all',
    group: 'Steps of the run',
    name: () => 'Show all steps on the charts',
    keys: ['Escape'],
    also: 'zoom reset out whole range axis',
    can: () => uiStore.getState().zoom !== undefined,
    run: showAllSteps,
  },
]

const TAB_NAMES: Readonly<Record<Tab, readonly [key: string, name: string, also: string]>> = {
  learn: ['L', 'Learning', 'charts reward entropy'],
  inside: ['I', 'Inside', 'layers'],
  tokens: ['T', 'Tokens', 'responses samples'],
  runs: ['R', 'Runs', 'compare history'],
  study: ['S', 'Study', 'arms seeds statistics search'],
  gpu: ['G', 'GPU', 'memory profiler'],
}

export const PART_COMMANDS: readonly Command[] = TABS.map((tab) => {
  const [key, name, also] = TAB_NAMES[tab]
  return {
    id: `tab-${tab}`,
    group: 'Parts of the page',
    name: () => `Go to ${name}`,
    keys: [`G ${key}`],
    also: `tab ${also}`,
    run: () => openTab(tab),
  }
})

export const PAGE_COMMANDS: readonly Command[] = [
  {
    id: 'palette',
    group: 'Page',
    name: () => 'Commands',
    keys: ['Mod+K'],
    run: () => showDialog('palette'),
  },
  {
    id: 'help',
    group: 'Page',
    name: () => 'Help and keyboard shortcuts',
    keys: ['?'],
    run: () => showDialog('help'),
  },
  {
    id: 'lessons',
    group: 'Page',
    name: () => 'Lessons',
    also: 'learn tutorial course help explain',
    run: () => openLesson(ALL_LESSONS),
  },
  {
    id: 'glossary',
    group: 'Page',
    name: () => 'Glossary',
    also: 'terms words meaning definition help explain',
    run: () => showDialog('glossary'),
  },
  {
    id: 'presets',
    group: 'Page',
    name: () => 'Presets with pictures',
    also: 'gallery experiments examples',
    can: () => lockedBecause('experiment') === undefined,
    run: () => showDialog('presets'),
  },
  {
    id: 'report',
    group: 'Page',
    name: () => 'Copy report',
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
  {
    id: 'language',
    group: 'Page',
    name: () => otherLanguage().name,
    also: 'language Chinese English 中文 语言 zhongwen',
    run: () => chooseLanguage(otherLanguage().id).catch(() => showToast(NOT_LOADED)),
  },
  ...(['system', 'light', 'dark'] as const).map(
    (theme): Command => ({
      id: `theme-${theme}`,
      group: 'Page',
      name: () => (theme === 'system' ? 'Colours: as in the system settings' : `Colours: ${theme}`),
      also: 'theme mode',
      can: () => uiStore.getState().theme !== theme,
      run: () => setPreference({ theme }),
    }),
  ),
]
