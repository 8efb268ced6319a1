// Lists the lines of the palette: what can be done now, and where one can go.

import { PRESETS } from '../../../document/presets/presets.ts'
import { SUMMARIES } from '../../../document/presets/summaries.ts'
import type { LabState } from '../../../page/state/store.ts'
import { ranked } from '../../kit/fuzzy.ts'
import { t } from '../../kit/translator.ts'
import { LESSONS } from '../../lessons/lessons.ts'
import { openPreset } from '../../open/actions.ts'
import { openLesson } from '../../open/open_lesson.ts'
import { showSetting } from '../../open/wanted.ts'
import { groupFields, shownFields } from '../../settings/form.ts'
import { askedWords, otherNames } from '../../settings/other_words.ts'
import { COMMANDS } from './commands/commands.ts'

/** A line of the palette. */
export interface Entry {
  readonly id: string
  readonly group: string
  readonly name: string
  readonly also: string
  readonly keys: string | undefined
  /** What is meant more often comes first. */
  readonly bonus: number
  readonly run: () => void
}

/** A line in the page's language, which its English name finds too. */
function inLanguage(entry: Entry): Entry {
  const [name, group] = [entry.name, entry.group].map(t)
  return { ...entry, name, group, also: `${entry.also} ${entry.name}` }
}

/** What can be done now; with `isAll`, also every lesson, preset and setting that can be gone
 * to. */
export function paletteEntries(state: LabState, isAll: boolean): readonly Entry[] {
  const possible = COMMANDS.filter(({ id, can }) => id !== 'palette' && (can?.(state) ?? true))
  const commands = possible.map((command): Entry => {
    const { id, group, also = '', keys, run } = command
    const name = command.name(state)
    return { id, group, name, also: `${also} ${group}`, keys: keys?.[0], bonus: 30, run }
  })
  if (!isAll) return commands.map(inLanguage)
  const presets = PRESETS.map(
    ({ id, name }): Entry => ({
      id: `preset-${id}`,
      group: 'Experiments',
      name,
      also: `preset experiment open ${SUMMARIES[id]}`,
      keys: undefined,
      bonus: 12,
      run: () => openPreset(id),
    }),
  )
  const lessons = LESSONS.map(
    ({ id, title, says }): Entry => ({
      id: `lesson-${id}`,
      group: 'Lessons',
      name: title,
      also: `lesson learn ${says}`,
      keys: undefined,
      bonus: 14,
      run: () => openLesson(id),
    }),
  )
  const fields = shownFields(state.experiment)
  const paths = new Set(fields.map(({ path }) => path))
  // What a phase has of its own is reached from the setting of all phases.
  const common = fields.filter(
    ({ path }) => !paths.has(path.replace(/^phases\.\d+\./, '')) || !/^phases\./.test(path),
  )
  const settings = groupFields(common).flatMap(([group, fields]) =>
    fields.map(
      ({ path, label }): Entry => ({
        id: `setting-${path}`,
        group,
        name: label,
        also: ['setting', group, path, ...otherNames(path)].join(' '),
        keys: undefined,
        bonus: 0,
        run: () => showSetting(path),
      }),
    ),
  )
  return [...commands, ...lessons, ...presets, ...settings].map(inLanguage)
}

/** A name in full comes before one that begins with it. */
const IN_FULL = 25

/** What a query means, best first. */
export function foundEntries(query: string, entries: readonly Entry[]) {
  const asked = askedWords(query).join(' ')
  const isFull = (also: string) =>
    /[._]/.test(asked) &&
    also.split(' ').some((name) => name === asked || name.endsWith(`.${asked}`))
  return ranked(asked, entries, ({ name, also, bonus }) => ({
    text: name,
    also,
    bonus: bonus + (isFull(also) ? IN_FULL : 0),
  }))
}
