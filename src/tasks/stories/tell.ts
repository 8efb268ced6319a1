// Tells a story: a plot names what happens in turn, and each time a sentence is chosen that fits.
import { ENDINGS } from './sentences/endings.ts'
import { HELPING } from './sentences/helping.ts'
import { OPENINGS } from './sentences/openings.ts'
import type { Sentence } from './sentences/sentence.ts'
import { TROUBLES } from './sentences/troubles.ts'
import type { PlotName } from './sizes.ts'
import { fill, KEPT, slotsOf, toldWords, type Words } from './slots.ts'
import { after, unmet, type World } from './world.ts'

export const BEATS = { ...OPENINGS, ...TROUBLES, ...HELPING, ...ENDINGS } as const

export type Beat = keyof typeof BEATS

const MEETING = 'cry? meet ask? tell offer? try'

/** What goes wrong in a plot, and who helps. A beat with `?` may be left out. */
const PLOTS: Readonly<Record<PlotName, string>> = {
  lost: `play? lose seek? ${MEETING}`,
  broken: `play? break ${MEETING}`,
  stuck: `play? stick ${MEETING}`,
  wish: `want ${MEETING}`,
  fear: 'hide meet ask? tell offer? try',
  astray: `stray ${MEETING}`,
  quarrel: 'find quarrel cry? try',
  gift: 'drop cry? offer? try',
}

/** How a story comes out, and how often. */
const OUTCOMES = [
  { share: 0.6, beats: 'solve joy joy? happy_end' },
  { share: 0.75, beats: 'fail sad_end' },
  { share: 0.82, beats: 'fail angry_end' },
  { share: 1, beats: 'fail comfort calm_end' },
]

/** How often a beat with `?` is told. */
const OPTIONAL = 0.3

/** Draws in [0, 1), each one new. */
export type Draw = () => number

const pick = <T>(list: readonly T[], draw: Draw): T => list[Math.floor(draw() * list.length)]

/** Words for the slots of a sentence: the kept ones, and new ones for the rest, the first `most` of
 * each list. Two slots of a kind get different words. */
function wordsFor({ text }: Sentence, world: World, draw: Draw, most: number): Words {
  const words: Record<string, string> = { ...world.names }
  for (const slot of slotsOf(text)) {
    if (KEPT.has(slot) && words[slot] !== undefined) continue
    const taken = words[slot.replace('2', '')]
    const list = toldWords(slot, most).filter((word) => word !== taken)
    words[slot] = pick(list, draw)
  }
  return words
}

/** One sentence of a story, with the space before it. */
export interface Told {
  readonly text: string
  /** Whether it says how the story comes out, or follows what does. */
  readonly isOutcome: boolean
}

/** How the story after its two first sentences goes. */
export function tell(world: World, plot: PlotName, draw: Draw, most: number): Told[] {
  const chance = draw()
  let { beats } = OUTCOMES.find(({ share }) => chance < share) ?? OUTCOMES[0]
  // Who has quarrelled is not comforted by the other.
  if (plot === 'quarrel' && beats.includes('comfort')) beats = 'fail sad_end'
  let now = world
  const told: Told[] = []
  const used = new Set<Sentence>()
  for (const name of `${PLOTS[plot]} ${beats}`.split(' ')) {
    if (name.endsWith('?') && draw() >= OPTIONAL) continue
    const all: readonly Sentence[] = BEATS[name.replace('?', '') as Beat]
    const fitting = all.filter((own) => !used.has(own) && unmet(now, own).length === 0)
    if (fitting.length === 0) throw new Error(`stories: no sentence of ${name} fits`)
    const own = pick(fitting, draw)
    used.add(own)
    const words = wordsFor(own, now, draw, most)
    told.push({ text: ` ${fill(own.text, words)}`, isOutcome: now.facts.has('trying') })
    now = after(now, own, words)
  }
  return told
}
