// Speaks Chinese: the catalogues of translations, loaded only where somebody chose the language.
import { createInstance } from 'i18next'
import type { Translator } from '../kit/translator.ts'
import { translateProps } from './element_translator.ts'
import { type Messages, TextTranslator } from './text_translator.ts'
import './chinese.css'

type Catalogue = Readonly<Record<string, string>>

const FILES = import.meta.glob<Catalogue>('./zh/*.json', { import: 'default' })
/** Nobody waits for the texts of lessons before one is open. */
const LATER = 'lessons'
const LOCALE = 'zh-CN'
const areaOf = (file: string) => file.slice('./zh/'.length, -'.json'.length)

/** i18next with texts as keys, and values in `{0}`. */
function messages() {
  const i18n = createInstance()
  void i18n.init({
    lng: LOCALE,
    resources: {},
    initAsync: false,
    keySeparator: false,
    nsSeparator: false,
    returnEmptyString: false,
    interpolation: { escapeValue: false, prefix: '{', suffix: '}' },
  })
  const areas = new Map<string, string>()
  const say: Messages['say'] = (key, values) => {
    const ns = areas.get(key)
    return ns === undefined ? undefined : i18n.t(key, { ns, ...values })
  }
  /** Its texts that have a translation. */
  const add = (area: string, catalogue: Catalogue): string[] => {
    i18n.addResourceBundle(LOCALE, area, catalogue)
    const keys = Object.keys(catalogue).filter((key) => catalogue[key] !== '')
    for (const key of keys) areas.set(key, area)
    return keys
  }
  return { say, add }
}

/** Resolves when the page can be drawn, with a lesson in it or without; rejects where a catalogue
 * cannot be loaded. */
export async function chinese(hasLesson: boolean): Promise<Translator> {
  const { say, add } = messages()
  const texts = new TextTranslator({ say })
  const learn = async (file: string) => {
    const catalogue = await FILES[file]()
    texts.learn(add(areaOf(file), catalogue))
  }
  const files = Object.keys(FILES)
  const isLater = (file: string) => areaOf(file) === LATER && !hasLesson
  await Promise.all(files.filter((file) => !isLater(file)).map(learn))
  // Where they do not come, lessons stay in English.
  for (const file of files.filter(isLater)) learn(file).catch(() => {})
  const text = (english: string) => texts.translate(english)
  return { locale: LOCALE, text, props: (type, props) => translateProps(type, props, text) }
}
