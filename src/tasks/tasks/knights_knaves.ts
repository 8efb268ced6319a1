// Asks who tells the truth, by what everybody says of the others.
import { numberedTask } from '../task/numbered_task.ts'
import { choices } from '../task/numbering.ts'
import type { TaskKind } from '../task/task.ts'
import { characters } from '../tokenizers/characters.ts'

const NAMES = 'ABCD'

/** Bit i: person i is a knight. */
type World = number
const isKnight = (world: World, person: number): boolean => ((world >> person) & 1) === 1

/** One thing that somebody may say, and whether it is true. */
interface Claim {
  readonly text: string
  readonly isTrue: (world: World) => boolean
}

/** What `speaker` may say: of each other person that they are a knight (+) or a knave (−), of each
 * pair that they are alike (=) or not (#). */
function claimsOf(speaker: number, people: number): Claim[] {
  const all = Array.from({ length: people }, (_, i) => i)
  const others = all.filter((person) => person !== speaker)
  return [
    ...others.flatMap((person): Claim[] => [
      { text: `${NAMES[person]}+`, isTrue: (world) => isKnight(world, person) },
      { text: `${NAMES[person]}-`, isTrue: (world) => !isKnight(world, person) },
    ]),
    ...all.flatMap((a) =>
      all.slice(a + 1).flatMap((b): Claim[] => [
        {
          text: `${NAMES[a]}=${NAMES[b]}`,
          isTrue: (world) => isKnight(world, a) === isKnight(world, b),
        },
        {
          text: `${NAMES[a]}#${NAMES[b]}`,
          isTrue: (world) => isKnight(world, a) !== isKnight(world, b),
        },
      ]),
    ),
  ]
}

/** The worlds in which knights say what is true and knaves what is not. */
function worldsOf(claims: readonly Claim[]): World[] {
  const worlds = Array.from({ length: 2 ** claims.length }, (_, world) => world)
  return worlds.filter((world) =>
    claims.every(({ isTrue }, speaker) => isTrue(world) === isKnight(world, speaker)),
  )
}

const written = (world: World, people: number): string =>
  Array.from({ length: people }, (_, person) => (isKnight(world, person) ? '+' : '-')).join('')

const puzzles = new Map<number, readonly number[]>()

/** The puzzles of so many people that have one solution, as numbers of choices among their claims.
 * Worked out once. */
function puzzlesOf(people: number, claims: readonly (readonly Claim[])[]): readonly number[] {
  const known = puzzles.get(people)
  if (known) return known
  // A bit for each world in which a claim fits its speaker.
  const fitting = claims.map((own, speaker) =>
    own.map(({ isTrue }) => {
      const worlds = Array.from({ length: 2 ** people }, (_, world) => world)
      return worlds
        .filter((world) => isTrue(world) === isKnight(world, speaker))
        .reduce((bits, world) => bits | (1 << world), 0)
    }),
  )
  const found: number[] = []
  const add = (speaker: number, bits: number, number: number): void => {
    if (bits === 0) return
    if (speaker < people)
      for (const [claim, fits] of fitting[speaker].entries())
        add(speaker + 1, bits & fits, number * fitting[speaker].length + claim)
    // One world is left.
    else if ((bits & (bits - 1)) === 0) found.push(number)
  }
  add(0, -1, 0)
  puzzles.set(people, found)
  return found
}

/** `A:B-,B:A=C,C:A+?` → `+-+`, a sign for each person: + tells the truth, − lies. */
export const knights_knaves: TaskKind = {
  id: 'knights_knaves',
  name: 'Knights and knaves',
  summary:
    'Everybody says that another is a knight (+) or a knave (-), or that two are alike (=) or not (#). Knights tell the truth and knaves lie: write + or - for each person.',
  params: [
    {
      name: 'people',
      label: 'People',
      help: 'How many people there are; each says one thing.',
      default: 3,
      min: 3,
      max: 4,
      step: 1,
      unit: 'people',
    },
  ],
  create: ({ people }) => {
    const claims = Array.from({ length: people }, (_, speaker) => claimsOf(speaker, people))
    const bases = claims.map(({ length }) => length)
    const solvable = puzzlesOf(people, claims)
    const solve = (chosen: readonly Claim[]) => written(worldsOf(chosen)[0], people)
    return numberedTask({
      id: 'knights_knaves',
      name: `people=${people}`,
      tokenizer: characters(`${NAMES}+-=#:,?`),
      max_prompt_length: 6 * people,
      max_response_length: people + 1,
      kinds: [BigInt(solvable.length)],
      pose: (index) => {
        const chosen = choices(BigInt(solvable[Number(index)]), bases).map(
          (claim, speaker) => claims[speaker][claim],
        )
        const said = chosen.map(({ text }, speaker) => `${NAMES[speaker]}:${text}`)
        return { prompt: `${said}?`, ground_truth: solve(chosen) }
      },
      pattern: new RegExp(
        `^([A-D]:[A-D][-+=#][A-D]?(?:,[A-D]:[A-D][-+=#][A-D]?){${people - 1}})\\?$`,
      ),
      example: 'A:B-,B:A=C,C:A+?',
      answer: ([, said]) => {
        const chosen = said.split(',').map((one, speaker) => {
          const claim = claims[speaker].find(({ text }) => text === one.slice(2))
          if (!claim) throw new RangeError(`knights_knaves: nobody says ${one}`)
          return claim
        })
        return solve(chosen)
      },
    })
  },
}
