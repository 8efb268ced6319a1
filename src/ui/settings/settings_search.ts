// Searches the settings: which fields a query means.

import { type Marks, searchable } from '../kit/fuzzy.ts'
import { t } from '../kit/translator.ts'
import { type FieldData, groupFields } from './form.ts'
import { askedWords, isMeant } from './other_words.ts'

const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

/** Where the words of a query stand in a text; in prose only where a word begins with them. */
export function findWords(query: string, text: string, isProse: boolean): Marks {
  const words = askedWords(query)
  if (words.length === 0) return []
  const start = isProse ? '(?<![\\p{L}\\p{N}])' : ''
  const pattern = new RegExp(`${start}(?:${words.map(escaped).join('|')})`, 'giu')
  return [...text.matchAll(pattern)].map(({ index, 0: found }) => [index, index + found.length])
}

/** A field's path as people count: 'phase 1: adv_estimator' for phases.0.adv_estimator. `say`: for
 * the words before the path, which itself is the same in every language. */
export const pathWords = (path: string, say = (words: string) => words): string =>
  path.replace(/^phases\.(\d+)\./, (_, index: string) =>
    say(`phase ${Number(index) + 1}:`).replace(/:$/, ': '),
  )

/** In English and in the page's language. */
function namesOf({ label, path, group, options = [] }: FieldData): string {
  const names = [label, path, pathWords(path), group, ...options.map((option) => option.label)]
  return searchable(names)
}

/** Whether a field's name, path, heading or choices hold every word of a query, or its words mean
 * it (other_words.ts). */
function isNamed(query: string, field: FieldData): boolean {
  const names = namesOf(field)
  const words = askedWords(query)
  return words.every((word) => names.includes(word)) || isMeant(words, field.path)
}

/** Whether they do so together with its help. */
export function isFound(query: string, field: FieldData): boolean {
  const names = namesOf(field)
  return (
    isNamed(query, field) ||
    askedWords(query).every(
      (word) => names.includes(word) || findWords(word, t(field.help), true).length > 0,
    )
  )
}

/** Whether a query is a setting's key: its path or the end of it, or that behind what another
 * trainer puts before it. */
const isKey = (query: string, path: string): boolean =>
  path === query || path.endsWith(`.${query}`) || query.endsWith(`.${path}`)

/** What a query is the key or the whole label of comes first, then what its words mean and a label
 * that begins with it, then one that has the words elsewhere; then come path, heading and choices,
 * and last the help. */
export function rankOf(query: string, field: FieldData): number {
  const words = askedWords(query)
  const key = words.join(' ')
  const labels = searchable([field.label]).split('\n')
  if (isKey(key, field.path.toLowerCase()) || labels.includes(key)) return 0
  if (isMeant(words, field.path) || labels.some((label) => label.startsWith(key))) return 1
  if (words.every((word) => labels.some((label) => label.includes(word)))) return 2
  return isNamed(query, field) ? 3 : 4
}

/** The likeliest first; of what is meant what all phases share before what one says for itself. */
function likeliestFirst(query: string, found: readonly FieldData[]): readonly FieldData[] {
  return found
    .map((field) => {
      const rank = rankOf(query, field)
      return { field, rank: 2 * rank + Number(rank < 2 && field.path.startsWith('phases.')) }
    })
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ field }) => field)
}

/** The fields that a query means, the likeliest first. */
export const findFields = (query: string, fields: readonly FieldData[]): readonly FieldData[] =>
  likeliestFirst(
    query,
    fields.filter((field) => isFound(query, field)),
  )

/** What was found, by heading: the settings in force first, of these the likeliest, then those
 * whose explanation alone says it, and last what phases take over from them. */
export function sortFound(query: string, found: readonly FieldData[]) {
  const inForce = found.filter((field) => field.isOverridden !== false)
  return {
    named: groupFields(
      likeliestFirst(
        query,
        inForce.filter((field) => isNamed(query, field)),
      ),
    ),
    told: groupFields(inForce.filter((field) => !isNamed(query, field))),
    inherited: groupFields(found.filter((field) => field.isOverridden === false)),
  }
}

/** Choices of a field that hold words of a query, where nothing else that is shown of it does. */
export function foundChoices(query: string, { label, path, help, options = [] }: FieldData) {
  const holds = (text: string, isProse: boolean) => findWords(query, text, isProse).length > 0
  if (holds(t(label), false) || holds(pathWords(path, t), false) || holds(t(help), true)) return []
  return options.filter((option) => holds(t(option.label), false)).map((option) => option.label)
}

/** What a search found, in a sentence; `idle`, how many of what matches have no effect as the other
 * settings are. */
export const foundWords = (found: number, sections: number, idle: number): string =>
  found === 0
    ? idle > 0
      ? `${idle} found, without effect as the settings are`
      : 'No setting found'
    : `${found} ${found === 1 ? 'setting' : 'settings'} in ${sections} ${sections === 1 ? 'section' : 'sections'}`

/** How many more match, without effect. */
export const idleWords = (idle: number): string => `${idle} more without effect as the settings are`

/** Those without an effect that are shown like the others: all where nothing else was found, else
 * what the query means by other words, where it means nothing of what was. */
export function openIdle(query: string, shown: readonly FieldData[], idle: readonly FieldData[]) {
  const means = ({ path }: FieldData) => isMeant(askedWords(query), path)
  if (shown.length === 0) return likeliestFirst(query, idle)
  return shown.some(means) ? [] : likeliestFirst(query, idle.filter(means))
}
