// Says where the page explains itself, and lists the keys from the commands themselves.
import { useStore } from 'zustand'
import { closeDialog, showDialog } from '../../open/dialogs.ts'
import { ALL_LESSONS, openLesson } from '../../open/open_lesson.ts'
import { Modal } from '../../part/Modal.tsx'
import { canKeepAwake, setPreference, type UiState, uiStore } from '../../shown/store.ts'
import { type CommandGroup, PANEL_KEYS } from './commands/command.ts'
import { COMMANDS } from './commands/commands.ts'
import { Keys } from './keys/Keys.tsx'

interface KeyLine {
  readonly keys: readonly string[]
  readonly does: string
}

/** The keys of every group that has some, in the order of the commands. */
function keyGroups(): readonly (readonly [group: string, lines: readonly KeyLine[]])[] {
  const groups = new Map<CommandGroup, KeyLine[]>()
  for (const { group, keys, name } of COMMANDS) {
    if (!keys) continue
    const lines = groups.get(group)
    const line = { keys, does: name() }
    if (lines) lines.push(line)
    else groups.set(group, [line])
  }
  return [...groups, ['While it is on screen', PANEL_KEYS]]
}

function KeyGroup({ group, lines }: { group: string; lines: readonly KeyLine[] }) {
  return (
    <section>
      <h3>{group}</h3>
      <dl className="keys">
        {lines.map(({ keys, does }) => (
          <div key={does}>
            <dt>
              {keys.map((key, i) => (
                <span key={key}>
                  {i > 0 ? <span className="soft"> or </span> : null}
                  <Keys keys={key} />
                </span>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

const selectShortcuts = (state: UiState) => state.shortcuts_on
const selectKeepAwake = (state: UiState) => state.keep_awake

export function Help() {
  return (
    <Modal name="help" label="Help">
      <Body />
    </Modal>
  )
}

function openLessons(): void {
  closeDialog('help')
  openLesson(ALL_LESSONS)
}

/** Where the page explains what it shows. */
function Explained() {
  return (
    <div className="help-ways">
      <button type="button" data-testid="help-lessons" onClick={openLessons}>
        Lessons
      </button>
      <button type="button" onClick={() => showDialog('glossary')}>
        Glossary
      </button>
      <button type="button" onClick={() => showDialog('palette')}>
        Commands
      </button>
      <p className="soft">
        A dotted word says what it means where you point at it; a setting explains itself below its
        name.
      </p>
    </div>
  )
}

function Body() {
  const shortcutsOn = useStore(uiStore, selectShortcuts)
  const keepAwake = useStore(uiStore, selectKeepAwake)
  return (
    <>
      <div className="dialog-head">
        <h2>Help</h2>
        <button type="button" onClick={() => closeDialog('help')}>
          Close
        </button>
      </div>
      <Explained />
      <h3>Keyboard</h3>
      <label className="check">
        <input
          type="checkbox"
          checked={shortcutsOn}
          onChange={(event) => setPreference({ shortcuts_on: event.target.checked })}
        />
        Use these keys
      </label>
      {canKeepAwake() ? (
        <label className="check">
          <input
            type="checkbox"
            checked={keepAwake}
            onChange={(event) => setPreference({ keep_awake: event.target.checked })}
          />
          Keep the screen awake during a run
        </label>
      ) : null}
      <div className="key-groups">
        {keyGroups().map(([group, lines]) => (
          <KeyGroup key={group} group={group} lines={lines} />
        ))}
      </div>
      <p className="soft">They do nothing while you type in a field.</p>
    </>
  )
}
