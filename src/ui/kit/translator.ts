// Holds the translator of the page's language. English has none: its texts are the source, and
// modules below write them without a thought for other languages.

export type Props = Readonly<Record<string, unknown>>

export interface Translator {
  /** BCP 47, for dates. */
  readonly locale: string
  /** What a whole text of the page is in the language; as it is where it has no translation. */
  readonly text: (text: string) => string
  /** Props of an element with its text and its spoken attributes in the language. */
  readonly props: (type: unknown, props: Props) => Props
}

let translator: Translator | undefined

/** From the next element on; what is drawn already is not drawn again. */
export function translateWith(next: Translator | undefined): void {
  translator = next
}

/** A text in the page's language. Elements do this by themselves (jsx/runtime.ts): it is for texts
 * that are drawn, measured, searched or cut before they reach one. */
export const t = (text: string): string => translator?.text(text) ?? text

export const translated = (type: unknown, props: Props): Props =>
  translator?.props(type, props) ?? props

/** BCP 47. */
export const locale = (): string => translator?.locale ?? 'en-GB'
