// Chooses the language of the page: that of a link, else the last choice, else the browser's.
import * as z from 'zod/mini'
import { createStore } from 'zustand/vanilla'
import { viewParts, withParts } from '../../document/links/view.ts'
import { remembered } from '../../page/state/remembered.ts'
import { t, translateWith } from '../kit/translator.ts'

const LANGUAGES = ['en', 'zh'] as const
type Language = (typeof LANGUAGES)[number]

const known = (tag: string | undefined) => LANGUAGES.find((language) => tag?.startsWith(language))

const kept = remembered(
  'language',
  z.enum(LANGUAGES),
  globalThis.navigator?.languages.map(known).find((language) => language) ?? 'en',
)

export const languageStore = createStore<{ language: Language }>()(() => ({ language: 'en' }))

export const NOT_LOADED = 'The texts could not be loaded: try again.'

/** The language that a switch leads to, in its own words. */
export const otherLanguage = (): { readonly id: Language; readonly name: string } =>
  languageStore.getState().language === 'en'
    ? { id: 'zh', name: '中文 (Chinese)' }
    : { id: 'en', name: 'English' }

/** The window's name as the page's file has it. */
const title = globalThis.document?.title

/** Draws the page in a language from now on; English where its texts cannot be loaded. */
async function speak(language: Language): Promise<void> {
  const hasLesson = viewParts(location.hash).lesson !== undefined
  const translator =
    language === 'zh' ? await (await import('./chinese.ts')).chinese(hasLesson) : undefined
  translateWith(translator)
  document.documentElement.lang = translator?.locale ?? 'en'
  document.title = t(title)
  languageStore.setState({ language })
}

/** Calls `draw` once the texts of the first language are there: at once for English. */
export function startLanguage(draw: () => void): void {
  const first = known(viewParts(location.hash).lang) ?? kept.get()
  if (first === 'en') draw()
  else speak(first).then(draw, draw)
}

/** A person's choice, which is remembered and counts more than that of the link. Rejects where the
 * texts cannot be loaded; then the language stays. */
export async function chooseLanguage(language: Language): Promise<void> {
  await speak(language)
  kept.set(language)
  const { pathname, search, hash } = location
  if (!viewParts(hash).lang) return
  history.replaceState(
    history.state,
    '',
    `${pathname}${search}${withParts(hash, { lang: undefined })}`,
  )
}
