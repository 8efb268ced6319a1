// Lists the parts of the page that appear when something happened, and what each waits for.
import { useStore } from 'zustand'
import { libraryStore } from '../../page/runs/library/library_store.ts'
import { shareStore } from '../../page/state/share_store.ts'
import { type LabState, labStore } from '../../page/state/store.ts'
import { selectLacksGpu } from '../../page/state/without_gpu.ts'
import { type DialogName, dialogStore } from '../open/dialogs.ts'
import { fileStore } from '../open/file_store.ts'
import { openLessonStore } from '../open/open_lesson.ts'
import { openedStore } from '../open/opened_run.ts'
import { later } from '../part/later.tsx'
import { versionStore } from '../part/new_version.ts'
import { useIsAtRest } from '../replay/at_rest.ts'
import { offersStore } from '../runs/checkpoints/offers.ts'
import { hasPairs, selectHasRun, selectIsBusy } from '../shown/run.ts'
import { usePresent } from '../shown/shown.ts'

export const PastRun = later(
  'The past run',
  async () => (await import('../runs/PastRun.tsx')).PastRun,
  () => useStore(openedStore, ({ opened }) => opened !== undefined),
)

export const DropTarget = later(
  'What can be dropped',
  async () => (await import('./palette/DropTarget.tsx')).DropTarget,
)

export const Locked = later(
  'The note about locks',
  async () => (await import('../share/Locked.tsx')).Locked,
  () => useStore(shareStore, ({ options: { hide, lock } }) => hide.length + lock.length > 0),
)

export const NewVersion = later(
  'The note on the new version',
  async () => (await import('./NewVersion.tsx')).NewVersion,
  () => useStore(versionStore, ({ isReady }) => isReady),
)

export const ContinueOffers = later(
  'The offer to continue',
  async () => (await import('../runs/checkpoints/ContinueOffers.tsx')).ContinueOffers,
  () => useStore(offersStore, ({ left, offered }) => left !== undefined || offered !== undefined),
)

/** A link that was not understood, a file that was not opened, rollouts that are not kept as they
 * were asked for. */
export const Notices = later(
  'The notes on the link',
  async () => (await import('../notices/Notices.tsx')).Notices,
  () => {
    const hasProblem = useStore(fileStore, ({ problem }) => problem !== undefined)
    const hasNotice = ({ notices, rollout_dtype }: LabState) =>
      notices.length > 0 || rollout_dtype !== undefined
    return useStore(labStore, hasNotice) || hasProblem
  },
)

export const Failure = later(
  'The error of the run',
  async () => (await import('../notices/Failure.tsx')).Failure,
  // Where there is no GPU at all, the picture has what to do about it behind its button.
  () => useStore(labStore, (state) => state.error !== undefined && !selectLacksGpu(state)),
)

const hasInterruption = ({ loss, checkpoint_problem, restored, guarded }: LabState) =>
  [loss, checkpoint_problem, restored?.differs, guarded].some((what) => what !== undefined)

export const Interrupted = later(
  'The note on the interruption',
  async () => (await import('../runs/checkpoints/Interrupted.tsx')).Interrupted,
  () => {
    const hasProblem = useStore(libraryStore, ({ problem }) => problem !== '')
    return useStore(labStore, hasInterruption) || hasProblem
  },
)

export const Lessons = later(
  'The lessons',
  async () => (await import('../course/Panel.tsx')).LessonsPanel,
  () => useStore(openLessonStore, ({ open }) => open !== undefined),
)

/** What can differ from the settings is a run. */
export const Pending = later(
  'The changed settings',
  async () => (await import('../notices/Pending.tsx')).Pending,
  () => useStore(labStore, selectIsBusy),
)

export const Reference = later(
  'The sender’s result',
  async () => (await import('../share/Reference.tsx')).Reference,
  () => useStore(shareStore, ({ result }) => result !== undefined),
)

export const Preferences = later(
  'The preferences',
  async () => (await import('../phases/Preferences.tsx')).Preferences,
  () => useStore(labStore, hasPairs),
)

export const AtRest = later(
  'The recording before a first run',
  async () => (await import('../replay/AtRest.tsx')).AtRest,
  useIsAtRest,
)

const hasBegun = ({ phase_switches }: LabState) => phase_switches.length > 0

export const Findings = later(
  'The findings',
  async () => (await import('../notices/Findings.tsx')).Findings,
  () => usePresent(hasBegun),
)

export const Skipped = later(
  'The note on skipped updates',
  async () => (await import('../notices/Skipped.tsx')).Skipped,
  () => usePresent(hasBegun),
)

const hasHistory = ({ phase_switches, experiment }: LabState) =>
  phase_switches.length > 0 || experiment.steering.length > 0

/** What can differ from the settings is a run, and what it was steered is done again. */
export const SettingsDiffer = later(
  'The note on changed settings',
  async () => (await import('../phases/SettingsDiffer.tsx')).SettingsDiffer,
  () => useStore(labStore, hasHistory),
)

export const EndCard = later(
  'The end of the run',
  async () => (await import('../forest/EndCard.tsx')).EndCard,
  () => usePresent(selectHasRun),
)

export const Record = later(
  'The record of the run',
  async () => (await import('../notices/Record.tsx')).Record,
  () => {
    const isPlanned = useStore(labStore, hasHistory)
    return usePresent(hasHistory) || isPlanned
  },
)

const useIsOpen = (name: DialogName) => useStore(dialogStore, ({ open }) => open === name)

export const Palette = later(
  'The list of commands',
  async () => (await import('./palette/Palette.tsx')).Palette,
  () => useIsOpen('palette'),
)

export const Glossary = later(
  'The glossary',
  async () => (await import('../glossary/Glossary.tsx')).Glossary,
  () => useIsOpen('glossary'),
)

export const FoundRuns = later(
  'The runs to import',
  async () => (await import('../runs/imports/FoundRuns.tsx')).FoundRuns,
  () => useIsOpen('found-runs'),
)

export const PresetGallery = later(
  'The presets',
  async () => (await import('../gallery/PresetGallery.tsx')).PresetGallery,
  () => useIsOpen('presets'),
)

export const Help = later(
  'The help',
  async () => (await import('./palette/Help.tsx')).Help,
  () => useIsOpen('help'),
)
