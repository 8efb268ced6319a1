// Translates a text as it is shown: whole, by the template that it was made from, or by its
// sentences and parts.
import { holdsClauses, isWrongCount, SURE, WEAK } from './fits.ts'
import {
  HAS_WORDS,
  holdsCode,
  IS_CHOICE_OF_CODE,
  IS_NAME_WITH_NUMBERS,
  IS_NUMBER,
  IS_PLAIN,
  IS_PROPER,
  IS_VALUE,
  IS_WORD,
  isCode,
  isGivenName,
  isName,
  NAMED_NUMBER,
  OF_A_PATH,
  otherCase,
  QUOTED,
  WORD_OF_CODE,
} from './kinds.ts'
import { IS_HIDDEN, Names } from './names.ts'
import { sayParseErrors } from './parse_errors.ts'
import {
  AFTER_STOP,
  commaOf,
  inList,
  JOINTS,
  listed,
  SIGNS,
  splitOutside,
  tidy,
  unsaid,
} from './punctuation.ts'
import { CERTAIN, type Match, Templates } from './templates.ts'

/** The messages of a language. */
export interface Messages {
  /** What a text of the catalogues is, its holes filled with these values; undefined where it has
   * no translation. */
  readonly say: (key: string, values?: readonly string[]) => string | undefined
}

/** Stands for an element in a text, the first one for the first. */
export const FIRST_MARK = 0xe000
export const MARKS = /[\ue000-\uf8ff]/g

/** Texts that are remembered; numbers that run make new ones all the time. */
const MOST_KEPT = 20_000
const MOST_DEPTH = 8
/** What is in brackets is of the last part. */
const ENDS_IN_BRACKETS = /(?:[,;]\s|\sand\s).*\([^(),;]*\)$/
/** `GRPO (n = 3)`: a line and its seeds. */
const OF_SEEDS = /^(.+) \((n = \d+)\)$/
/** What lies between the elements at its ends. */
const BETWEEN_ELEMENTS = /^([\s\ue000-\uf8ff]*)([\s\S]*?)([\s\ue000-\uf8ff]*)$/
/** A name of how many there are, which its number follows: `提示数 8`. */
const IS_NUMBER_OF = /(?<![参分函指系])数$/
/** Below so many, such as of `By {0}`, a template stands as it is written alone. */
const LEAST = 4

/** Where a comma behind what is quoted was none of a list, a text was cut wrong. */
const joints = (text: string): number => text.split(/”[、，]/).length

export class TextTranslator {
  private readonly kept = new Map<string, string | undefined>()
  /** What was found of texts at a depth below which more of them was not looked into. */
  private readonly partly = new Map<
    string,
    { readonly depth: number; readonly said: string | undefined }
  >()
  private readonly all: Templates[] = []
  /** Whether something was deeper than is looked into. */
  private isTooDeep = false
  private readonly messages: Messages
  private readonly names: Names

  constructor(messages: Messages) {
    this.messages = messages
    this.names = new Names((name) => messages.say(name))
  }

  /** Texts of one more catalogue. */
  learn(keys: Iterable<string>): void {
    const all = [...keys]
    this.all.push(new Templates(all))
    this.names.learn(all)
    this.forget()
  }

  private forget(): void {
    this.kept.clear()
    this.partly.clear()
  }

  /** The text in the language, with the spaces around it; as it is where it has no translation. */
  translate(said: string): string {
    const text = sayParseErrors(said.replace(AFTER_STOP, ''))
    if (!HAS_WORDS.test(text)) return unsaid(text)
    // A text that is a name, with a sign at its end or without, has its own translation.
    const isWhole = [text.trim(), text.trim().slice(0, -1)].some((t) => this.exactly(t))
    const hidden = isWhole ? text : this.names.hide(text)
    if (hidden === text) return this.find(text, 0) ?? unsaid(text)
    const found = HAS_WORDS.test(hidden)
      ? this.find(hidden, 0)
      : hidden.replace(/[,:;.](?=\s)/g, (sign) => SIGNS[sign])
    // A text of the catalogue may hold the name itself.
    return found === undefined ? (this.find(text, 0) ?? text) : tidy(this.names.show(found))
  }

  /** undefined: no translation was found. */
  private find(text: string, depth: number): string | undefined {
    if (!HAS_WORDS.test(text)) return text
    if (this.kept.has(text)) return this.kept.get(text)
    if (depth > MOST_DEPTH) {
      this.isTooDeep = true
      return this.exactly(text.trim())
    }
    const partly = this.partly.get(text)
    if (partly !== undefined && partly.depth <= depth) {
      this.isTooDeep = true
      return partly.said
    }
    const wasTooDeep = this.isTooDeep
    this.isTooDeep = false
    const [, before, core, after] = /^(\s*)([\s\S]*?)(\s*)$/.exec(text) ?? ['', '', text, '']
    const found = this.findCore(core, depth)
    const whole = found === undefined ? undefined : tidy(`${before}${found.trimEnd()}${after}`)
    if (this.kept.size + this.partly.size >= MOST_KEPT) this.forget()
    // Less deep in another text, more of it may be found.
    if (!this.isTooDeep || depth === 0) this.kept.set(text, whole)
    else this.partly.set(text, { depth, said: whole })
    this.isTooDeep ||= wasTooDeep
    return whole
  }

  private findCore(core: string, depth: number): string | undefined {
    const [, before, inner, after] = BETWEEN_ELEMENTS.exec(core) ?? ['', '', core, '']
    const exact = this.exactly(inner)
    if (exact !== undefined) return `${before}${exact}${after}`
    // A text that is put to a sentence's end has its stop from there.
    const ended = inner.endsWith('.') ? this.exactly(inner.slice(0, -1)) : undefined
    if (ended !== undefined) return `${before}${ended}。${after}`
    if (QUOTED.test(core))
      return `“${this.quoted(core.slice(1, -1), depth) ?? listed(core.slice(1, -1))}”`
    if (IS_CHOICE_OF_CODE.test(core)) return this.choiceOfCode(core, depth)
    const [, line, seeds] = OF_SEEDS.exec(core) ?? []
    if (line !== undefined) return `${this.find(line, depth + 1) ?? line}（${seeds}）`
    const { sure, likely, weight } = this.byTemplate(core, depth)
    const alone = inner === core ? undefined : this.byTemplate(inner, depth + 1)
    // An icon beside a text is none of its value.
    if (alone?.sure !== undefined && alone.weight > weight) return `${before}${alone.sure}${after}`
    return (
      sure ??
      this.ofPath(core, depth) ??
      this.betweenElements(core, depth) ??
      this.byParts(core, 0, depth) ??
      (ENDS_IN_BRACKETS.test(core) ? this.byParts(core, 1, depth) : undefined) ??
      this.valued(core, IS_VALUE) ??
      this.ended(core, depth) ??
      this.labelled(core, depth) ??
      likely ??
      (alone?.likely && `${before}${alone.likely}${after}`) ??
      this.byParts(core, 1, depth) ??
      this.valued(core, WORD_OF_CODE)
    )
  }

  /** What is quoted; one small word is a name that somebody gave. */
  private quoted(text: string, depth: number): string | undefined {
    return /^[a-z][\w-]*$/.test(text) ? text : this.find(text, depth + 1)
  }

  /** A value of a template, or a part of a list; a unit without a number is a name. */
  private named(text: string, before: string, depth: number): string | undefined {
    const said = this.find(text, depth + 1)
    const [word] = text.split(' (', 1)
    const unit = this.exactly(word)
    if (!isGivenName(word, unit, before)) return said
    return `“${word}”${said?.slice(unit?.length) ?? ''}`
  }

  /** A path, and what is said of it. */
  private ofPath(core: string, depth: number): string | undefined {
    const [, path, rest] = OF_A_PATH.exec(core) ?? []
    const said = rest === undefined ? undefined : this.find(rest, depth + 1)
    return said === undefined ? undefined : `${path.replace(/ \((.*)\)$/, '（$1）')}：${said}`
  }

  /** `'cosine' (cosine decay) or 'constant'`: words of code, each with what a form calls it. */
  private choiceOfCode(core: string, depth: number): string {
    const said = core.replace(
      / \(([^()]*)\)(?= or '|$)/g,
      (_, label: string) => `（${this.find(label, depth + 1) ?? label}）`,
    )
    return said.replaceAll(/(?<=['）]) or '/g, " 或 '")
  }

  /** A label, and a refusal that names first which part of the value it is about. */
  private labelled(core: string, depth: number): string | undefined {
    const [, label, rest] = /^([^:]+): ([^:]+: expected [\s\S]+)$/.exec(core) ?? []
    const name = label === undefined ? undefined : this.exactly(label)
    const said = name === undefined ? undefined : this.find(rest, depth + 1)
    return said === undefined ? undefined : `${name}：${said}`
  }

  /** A setting and its value: `architecture qwen3`. */
  private valued(core: string, isValue: RegExp): string | undefined {
    const [, label, value] = /^(.+)\s(\S+)$/.exec(core) ?? []
    if (label === undefined || !isValue.test(value)) return undefined
    const said = this.exactly(label)
    return said === undefined ? undefined : `${said} ${this.exactly(value) ?? value}`
  }

  /** Whole where it has a translation without what stands at its ends, such as an icon. */
  private betweenElements(core: string, depth: number): string | undefined {
    const [, before, inner, after] = BETWEEN_ELEMENTS.exec(core) ?? ['', '', core, '']
    if (inner === core) return undefined
    const said = this.byTemplate(inner, depth + 1).sure
    return said === undefined ? undefined : `${before}${said}${after}`
  }

  /** Whole, as at the beginning of a sentence or within one, and without its article: Chinese has
   * none. */
  private exactly(core: string): string | undefined {
    const bare = core.replace(/^(?:the|an?) /i, '')
    for (const text of [core, otherCase(core), bare, otherCase(bare)]) {
      const said = text === undefined ? undefined : this.messages.say(text)
      if (said !== undefined) return said
    }
    return bare !== core && isCode(bare) ? bare : undefined
  }

  /** The templates that a text can have been made from, the surest first. */
  private matches(core: string): Match[] {
    const other = otherCase(core)
    const own = this.all.flatMap((templates) => templates.matches(core))
    const others =
      other === undefined ? [] : this.all.flatMap((templates) => templates.matches(other))
    const found = [
      ...own,
      ...others.filter(({ key, weight }) => weight >= LEAST && !key.startsWith('{')),
    ]
    return found.sort(
      (a, b) => b.weight - a.weight || b.length - a.length || Number(a.isOdd) - Number(b.isOdd),
    )
  }

  /** `likely`: with words in it that have no translation, as names have none. */
  private byTemplate(core: string, depth: number) {
    let likely: string | undefined
    let certain:
      | {
          readonly key: string
          readonly filled: string
          readonly rest: number
          readonly weight: number
        }
      | undefined
    for (const match of this.matches(core)) {
      const { key, values, weight, literals } = match
      // Another cut of the same template may leave less in English.
      if (certain !== undefined && certain.key !== key) break
      if (holdsClauses(match)) continue
      const said = values.map((value, i) =>
        holdsCode(match, i)
          ? listed(value)
          : literals[i].endsWith('“')
            ? this.quoted(value, depth)
            : inList(this.named(value, literals[i], depth), literals[i]),
      )
      const filled = this.messages.say(
        key,
        said.map((value, i) => value ?? listed(values[i])),
      )
      if (filled === undefined || isWrongCount(match, filled, said[0] ?? values[0])) continue
      const names = values.filter(
        (value, i) =>
          said[i] === undefined &&
          !isCode(value) &&
          !literals[i].endsWith('“') &&
          // What a browser says of an error.
          !(weight >= CERTAIN && literals[i].endsWith(' (') && literals[i + 1].startsWith(')')),
      )
      const left = values.filter((value, i) => said[i] === undefined && IS_WORD.test(value))
      if (names.length === 0 && left.length === 0) {
        // What is cut where texts of the catalogues end is cut right.
        if (values.every((value) => !HAS_WORDS.test(value) || this.exactly(value.trim())))
          return { sure: filled, likely, weight }
        if (certain === undefined || certain.rest > 0 || joints(filled) < joints(certain.filled))
          certain = { key, filled, rest: 0, weight }
        continue
      }
      const fits = names.every(
        (name) => isName(name) && (weight >= SURE || (weight >= WEAK && !/\s/.test(name.trim()))),
      )
      const rest = [...names, ...left].join('').length
      if (names.length === 0 || (fits && weight >= CERTAIN)) {
        if (certain === undefined || rest < certain.rest) certain = { key, filled, rest, weight }
      } else if (fits) likely ??= filled
    }
    return { sure: certain?.filled, likely, weight: certain?.weight ?? 0 }
  }

  /** Each part by itself, where one has a translation at least; `first`: the first joint. */
  private byParts(core: string, first: number, depth: number): string | undefined {
    for (const [between, joint] of first === 0 ? JOINTS.slice(0, 1) : JOINTS.slice(1)) {
      const parts = splitOutside(core, between)
      if (parts.length < 2) continue
      // A name may hold joints of its own: then the last one is that of the text.
      const cut = core.length - parts[parts.length - 1].length
      const rest = core.slice(0, cut).replace(new RegExp(`(?:${between.source})$`), '')
      const own = joint === ',' ? commaOf(core, parts) : joint
      const said =
        this.joined(parts, own, depth) ??
        (parts.length > 2 ? this.joined([rest, core.slice(cut)], own, depth) : undefined)
      if (said !== undefined) return said
    }
    return undefined
  }

  private joined(parts: readonly string[], joint: string, depth: number): string | undefined {
    const before = (i: number) => (i > 0 && '、，'.includes(joint) ? ', ' : '')
    const said = parts.map((part, i) => SIGNS[part] ?? this.named(part, before(i), depth))
    const isSaid = said.every((part, i) => {
      const own = parts[i].trim()
      return part !== undefined || !/\s/.test(own) || NAMED_NUMBER.test(own) || IS_PROPER.test(own)
    })
    // Numbers are joined by a word, `0.2 and 0.28`, and so are short names with theirs.
    const isChanged =
      joint === '；' ||
      !parts.some((part) => HAS_WORDS.test(part)) ||
      parts.some((part) => IS_HIDDEN.test(part)) ||
      IS_NAME_WITH_NUMBERS.test(parts.join(joint)) ||
      said.some((part, i) => part !== undefined && part !== parts[i])
    if (!isSaid || !isChanged) return undefined
    const whole = said.map((part, i) => part ?? parts[i])
    const [number, ...counted] = whole
    const isLabel = joint === ' ' && IS_NUMBER.test(number) && IS_NUMBER_OF.test(counted.join(''))
    return isLabel ? `${counted.join(joint)} ${number}` : whole.join(joint)
  }

  /** Without the sign at an end of it, or without what is in brackets there. */
  private ended(core: string, depth: number): string | undefined {
    const [, text, inside] = /^([\s\S]*?)\s*\(([^()]+)\)$/.exec(core) ?? []
    // A function and what it is of are one formula.
    if (text !== undefined && !/[a-z]\([A-Z]\b[^a-z]*\)$/.test(core)) {
      const said = text === '' ? undefined : this.find(text, depth + 1)
      const more = this.find(inside, depth + 1)
      // A word of English before what is said would stay.
      if (said !== undefined || (more !== undefined && !IS_PLAIN.test(text)))
        return `${said ?? text}（${more ?? inside}）`
    }
    const [, up = '', inner = '', right = ''] = /^([↑←]\s+)?([\s\S]*?)(\s+→)?$/.exec(core) ?? []
    if (up + right !== '') {
      const said = this.find(inner, depth + 1)
      return said === undefined ? undefined : `${up}${said}${right}`
    }
    const [, first, rest] = /^([.,:;])\s+([\s\S]+)$/.exec(core) ?? []
    const begun =
      rest === undefined
        ? undefined
        : (this.find(rest, depth + 1) ?? (isCode(rest) ? rest : undefined))
    if (begun !== undefined) return `${SIGNS[first]}${begun}`
    const sign = SIGNS[core.charAt(core.length - 1)]
    const said = sign === undefined ? undefined : this.find(core.slice(0, -1), depth + 1)
    return said === undefined ? undefined : `${said}${sign}`
  }
}
