// Hides texts that hold a comma or a colon of their own, such as names of presets and of metrics,
// while what they stand in is translated, so that no pattern cuts within them.
import { otherCase } from './kinds.ts'

/** Stands for the first one; the plane is private, and no element's mark lies in it. */
const FIRST = 0xf0000
const MARKS = /[\u{f0000}-\u{fffff}]/gu
/** Of a sentence that ends with one. */
const LAST_STOP = /(?<=[\u{f0000}-\u{fffff}])\.(?=\s|$)/gu
export const IS_HIDDEN = /^[\u{f0000}-\u{fffff}]$/u

/** No sentence and no template: a few words with a joint between them. */
const IS_NAME = /^[A-Za-z][^{}.!?;“”()]{6,60}[A-Za-z\d]$/
const HAS_JOINT = /[,:] /

const escaped = (text: string): string => text.replace(/[*+^$|[\]\\]/g, '\\$&')

export class Names {
  private names: string[] = []
  private pattern: RegExp | undefined
  private readonly say: (name: string) => string | undefined

  constructor(say: (name: string) => string | undefined) {
    this.say = say
  }

  learn(keys: readonly string[]): void {
    const names = keys.filter((key) => IS_NAME.test(key) && HAS_JOINT.test(key))
    this.names.push(...names, ...names.flatMap((name) => otherCase(name) ?? []))
    // The longest first, so that none is taken for a part of another.
    this.names.sort((a, b) => b.length - a.length)
    const any = this.names.map(escaped).join('|')
    if (any !== '') this.pattern = new RegExp(`(?<![\\w-])(?:${any})(?![\\w-])`, 'g')
  }

  hide(text: string): string {
    if (!this.pattern || !HAS_JOINT.test(text)) return text
    return text.replace(this.pattern, (name) =>
      String.fromCodePoint(FIRST + this.names.indexOf(name)),
    )
  }

  show(text: string): string {
    return text.replace(LAST_STOP, '。').replace(MARKS, (mark) => {
      const name = this.names[(mark.codePointAt(0) ?? FIRST) - FIRST]
      return this.say(name) ?? this.say(otherCase(name) ?? '') ?? name
    })
  }
}
