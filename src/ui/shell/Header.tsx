// Shows the head of the page: its name, the adapter and the buttons.
import { BookOpen, CircleAlert, Cpu, Monitor, Moon, Search, Sun } from 'lucide-react'
import { useStore } from 'zustand'
import { adapterName } from '../../document/links/names.ts'
import { replayStore } from '../../page/state/replay.ts'
import type { LabState } from '../../page/state/store.ts'
import { chooseLanguage, languageStore, NOT_LOADED, otherLanguage } from '../language/language.ts'
import { showDialog } from '../open/dialogs.ts'
import { ALL_LESSONS, openLesson, openLessonStore } from '../open/open_lesson.ts'
import { selectIsReplaying } from '../open/replays.ts'
import { useLab } from '../shown/run.ts'
import { setPreference, showToast, type Theme, type UiState, uiStore } from '../shown/store.ts'
import { Keys } from './palette/keys/Keys.tsx'

/** A low layer of forest under the line of the canopy. */
function Mark() {
  return (
    <svg className="mark" viewBox="0 0 32 32" aria-hidden="true">
      <path
        d="M4 12.5C6 7.6 9.6 7.6 11.4 10.2 12.8 5.6 18 5.2 19.6 9.4 22.4 6.6 26.6 8 28 12.5M10 14v4M22 13.6V18"
        fill="none"
        stroke="var(--edge)"
        strokeWidth="2"
        strokeLinecap="round"
      />
      <path
        d="M4 26c.6-5.2 4-7 6.6-4.4C12 17 17 16.6 18.6 20.4 21 18.2 27 19 28 26Z"
        fill="var(--accent)"
      />
    </svg>
  )
}

const selectHasFailed = ({ status }: LabState) => status === 'failed'
const selectAdapter = (state: LabState) => state.adapter

function Adapter() {
  const adapter = useLab(selectAdapter)
  const hasFailed = useLab(selectHasFailed)
  const isReplaying = useStore(replayStore, selectIsReplaying)
  if (!adapter)
    return (
      <span className="soft adapter" data-testid="adapter">
        <Cpu className="icon" aria-hidden="true" /> {hasFailed ? 'no GPU' : 'looking for a GPU'}
      </span>
    )
  const name = adapterName(adapter)
  return (
    <span className="adapter" data-testid="adapter" data-software={adapter.is_software}>
      {isReplaying ? (
        <span className="badge warn">recording</span>
      ) : adapter.is_software ? (
        <span className="badge warn">
          <CircleAlert className="icon" aria-hidden="true" /> software adapter: correct but slow
        </span>
      ) : (
        <Cpu className="icon" aria-hidden="true" />
      )}
      <span className="adapter-name" title={name}>
        {name}
      </span>
    </span>
  )
}

const THEMES: readonly { theme: Theme; label: string; Icon: typeof Sun }[] = [
  { theme: 'system', label: 'As in the system settings', Icon: Monitor },
  { theme: 'light', label: 'Light', Icon: Sun },
  { theme: 'dark', label: 'Dark', Icon: Moon },
]
const selectTheme = (state: UiState) => state.theme

function ThemeSwitch() {
  const chosen = useStore(uiStore, selectTheme)
  return (
    <fieldset className="theme-switch">
      <legend className="visually-hidden">Colours</legend>
      {THEMES.map(({ theme, label, Icon }) => (
        <label key={theme} title={label}>
          <input
            type="radio"
            name="theme"
            value={theme}
            data-testid={`theme-${theme}`}
            checked={chosen === theme}
            onChange={() => setPreference({ theme })}
          />
          <Icon className="icon" aria-hidden="true" />
          <span className="visually-hidden">{label}</span>
        </label>
      ))}
    </fieldset>
  )
}

/** Leads to the other language, by its code: not every machine has the letters of its name. */
function LanguageSwitch() {
  useStore(languageStore)
  const { id, name } = otherLanguage()
  const choose = () => chooseLanguage(id).catch(() => showToast(NOT_LOADED))
  return (
    <button type="button" data-testid="language" title={name} translate="no" onClick={choose}>
      {id.toUpperCase()}
    </button>
  )
}

function LessonsButton() {
  const isOpen = useStore(openLessonStore, ({ open }) => open !== undefined)
  return (
    <button
      type="button"
      className="lessons-button"
      data-testid="open-lessons"
      aria-label="Lessons"
      title="Short lessons, beside the lab"
      aria-expanded={isOpen}
      onClick={() => openLesson(isOpen ? undefined : ALL_LESSONS)}
    >
      <BookOpen className="icon" aria-hidden="true" />
      <span>Lessons</span>
    </button>
  )
}

/** The way to every command for those who do not know its key. */
function CommandsButton() {
  return (
    <button
      type="button"
      className="commands-button"
      data-testid="commands"
      aria-label="Commands"
      title="Find any command, experiment or setting"
      onClick={() => showDialog('palette')}
    >
      <Search className="icon" aria-hidden="true" />
      <span className="commands-words">Commands</span>
      <Keys keys="Mod+K" />
    </button>
  )
}

export function Header() {
  return (
    <header className="header">
      <Mark />
      <h1>Understory</h1>
      <p className="soft tagline">Reinforcement learning on your own GPU, layer by layer</p>
      <Adapter />
      <LessonsButton />
      <CommandsButton />
      <LanguageSwitch />
      <ThemeSwitch />
    </header>
  )
}
