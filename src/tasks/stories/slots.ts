// Describes the slots of sentences: what may stand in each, and the text of a sentence whose slots
// are filled.
//
// `{hero}` is a word of a list, `{Hero}` the same with a capital letter, `{a look thing}` two words
// with the article that fits. Words such as `he` or `was` follow from the character or the thing
// that they belong to, and a `girl` who is called Tom is a `boy`.
import { KINDS, SHE_AND_HE, TRAITS } from './words/beings.ts'
import { FEARS, FEELINGS, GAMES, MANNERS, TIMES } from './words/feelings.ts'
import { article, plural } from './words/listed.ts'
import { HE, SHE } from './words/names.ts'
import { GROUNDS, HEIGHTS, HOMES, SPOTS } from './words/places.ts'
import { FOODS, LOOKS, PAIRS, THINGS, TOOLS } from './words/things.ts'

const NAMES = SHE.flatMap((she, i) => (HE[i] ? [she, HE[i]] : [she]))
/** One in ten things comes as a pair. */
const OBJECTS = THINGS.flatMap((thing, i) =>
  i % 9 === 8 && PAIRS[(i - 8) / 9] ? [thing, PAIRS[(i - 8) / 9]] : [thing],
)

/** What a reader understands in a slot. */
export const WORDS: Readonly<Record<string, readonly string[]>> = {
  hero: NAMES,
  friend: NAMES,
  kind: KINDS,
  friend_kind: KINDS,
  trait: TRAITS,
  trait2: TRAITS,
  thing: OBJECTS,
  look: LOOKS,
  home: HOMES,
  fear: FEARS,
  height: HEIGHTS,
  time: TIMES,
  ground: GROUNDS,
  ground2: GROUNDS,
  spot: SPOTS,
  spot2: SPOTS,
  tool: TOOLS,
  tool2: TOOLS,
  food: FOODS,
  food_s: FOODS.map(plural),
  game: GAMES,
  manner: MANNERS,
  happy: FEELINGS.happy,
  sad: FEELINGS.sad,
  afraid: FEELINGS.afraid,
  angry: FEELINGS.angry,
  calm: FEELINGS.calm,
}

const HE_FORMS: ReadonlySet<string> = new Set(SHE_AND_HE.map(([, he]) => he))

/** The words that stories are told with, `most` of a kind. A kind with two forms is told once, as
 * the name chooses its form: two entries would be one prompt with two numbers. Heroes and friends
 * are not called alike, so that a name says who it is: a small model need not count who came
 * first. */
export function toldWords(slot: string, most: number): readonly string[] {
  const all = slot in AGREEING ? WORDS[slot].filter((word) => !HE_FORMS.has(word)) : WORDS[slot]
  const words = all.slice(0, most)
  if (slot !== 'hero' && slot !== 'friend') return words
  // Two by two, as she and he take turns.
  return words.filter((_, i) => i % 4 < 2 === (slot === 'hero'))
}

/** Slots that keep their word through a story. */
export const KEPT: ReadonlySet<string> = new Set([
  'hero',
  'friend',
  'kind',
  'friend_kind',
  'thing',
  'look',
  'fear',
])

/** Characters and things whose words take the second form. */
export const SECOND_FORM: ReadonlySet<string> = new Set([...SHE, ...PAIRS])
const several = new Set(PAIRS)

/** Words that follow from another slot's: of which slot, and how. */
export const FOLLOWING: Readonly<
  Record<string, { readonly of: string; readonly forms: readonly [string, string] }>
> = {
  he: { of: 'hero', forms: ['he', 'she'] },
  him: { of: 'hero', forms: ['him', 'her'] },
  his: { of: 'hero', forms: ['his', 'her'] },
  friend_his: { of: 'friend', forms: ['his', 'her'] },
  it: { of: 'thing', forms: ['it', 'they'] },
  them: { of: 'thing', forms: ['it', 'them'] },
  was: { of: 'thing', forms: ['was', 'were'] },
  is: { of: 'thing', forms: ['is', 'are'] },
}

/** Slots whose word agrees with the name in another slot. */
export const AGREEING: Readonly<Record<string, string>> = { kind: 'hero', friend_kind: 'friend' }

/** The two forms of a kind that has them, by either. */
export const FORMS_OF_KINDS: Readonly<Record<string, readonly [he: string, she: string]>> =
  Object.fromEntries(
    SHE_AND_HE.flatMap(([she, he]) => [she, he].map((word) => [word, [he, she]] as const)),
  )

/** The words of a sentence's slots. */
export type Words = Readonly<Record<string, string>>

const SLOT_WITH_BRACES = /\{[^}]*\}/
const SLOT = /\{([Aa] )?([\w ]+)\}/g

/** The slots of a sentence with words of their own, in order. */
export function slotsOf(text: string): string[] {
  const names = [...text.matchAll(SLOT)].flatMap(([, , slots]) => slots.toLowerCase().split(' '))
  return [...new Set(names.flatMap((name) => FOLLOWING[name]?.of ?? name))]
}

const capital = (word: string) => word[0].toUpperCase() + word.slice(1)
const isCapital = (word: string) => word[0] !== word[0].toLowerCase()

/** The text of a sentence with these words. */
export const fill = (text: string, words: Words): string =>
  text.replace(SLOT, (_, a: string | undefined, slots: string) => {
    const own = slots.split(' ').map((slot) => {
      const word = wordOf(slot.toLowerCase(), words)
      return isCapital(slot) ? capital(word) : word
    })
    if (!a || several.has(words[slots.split(' ').at(-1) ?? ''])) return own.join(' ')
    const before = article(own[0])
    return [isCapital(a) ? capital(before) : before, ...own].join(' ')
  })

function wordOf(slot: string, words: Words): string {
  const agreeing = AGREEING[slot]
  const { of, forms } =
    FOLLOWING[slot] ?? (agreeing && { of: agreeing, forms: FORMS_OF_KINDS[words[slot]] }) ?? {}
  if (!of || !forms) return words[slot]
  return forms[SECOND_FORM.has(words[of]) ? 1 : 0]
}

/** A sentence as a pattern: its groups are the slots' words, whatever they follow from. */
export function patternOf(text: string): RegExp {
  const literal = (part: string) => part.replace(/[.*+?^$()|[\]\\]/g, '\\$&')
  let [source, from] = ['', 0]
  const seen = new Set<string>()
  for (const match of text.matchAll(SLOT)) {
    source += literal(text.slice(from, match.index))
    from = match.index + match[0].length
    if (match[1]) source += '(?:[Aa]n? )?'
    source += match[2]
      .split(' ')
      .map((slot) => {
        const name = slot.toLowerCase()
        const words = FOLLOWING[name]?.forms ?? WORDS[name]
        const any = words.map(isCapital(slot) ? capital : String).join('|')
        if (seen.has(name) || FOLLOWING[name]) return `(?:${any})`
        seen.add(name)
        return `(?<${name}>${any})`
      })
      .join(' ')
  }
  return new RegExp(`^${source}${literal(text.slice(from))}$`)
}

/** The longest piece of a sentence without slots. */
export const longestPiece = (text: string): string =>
  text.split(SLOT_WITH_BRACES).reduce((a, b) => (b.length > a.length ? b : a), '')
