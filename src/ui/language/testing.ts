// Translates with all catalogues at once, for tests.
import { TextTranslator } from './text_translator.ts'

const CATALOGUES = import.meta.glob<Readonly<Record<string, string>>>('./zh/*.json', {
  eager: true,
  import: 'default',
})
const catalogues = Object.values(CATALOGUES)

/** Every text that has a translation. */
export const SAID: ReadonlyMap<string, string> = new Map(
  catalogues.flatMap((one) => Object.entries(one).filter(([, to]) => to)),
)

/** `onAsk`: whenever a text is looked up. */
export function allTexts(onAsk = () => {}): TextTranslator {
  const texts = new TextTranslator({
    say: (key, values = []) => {
      onAsk()
      return SAID.get(key)?.replace(/\{(\d+)\}/g, (_, i) => values[Number(i)] ?? '')
    },
  })
  for (const one of catalogues) texts.learn(Object.keys(one).filter((key) => one[key] !== ''))
  return texts
}
