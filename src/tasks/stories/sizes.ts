// Names the sizes of the story task that are known before its words are loaded.

/** How the story of each plot opens, the simplest first. */
export const PLOT_OPENINGS = {
  lost: 'has',
  broken: 'has',
  stuck: 'has',
  wish: 'wishes',
  fear: 'fears',
  astray: 'away',
  quarrel: 'friendship',
  gift: 'gift',
} as const

export type PlotName = keyof typeof PLOT_OPENINGS

/** The first `plots` plots. */
export const plotsOf = (plots: number): PlotName[] =>
  (Object.keys(PLOT_OPENINGS) as PlotName[]).slice(0, plots)

/** How stories of some plots can open, each once. */
export const openingsOf = (plots: number) => [
  ...new Set(plotsOf(plots).map((name) => PLOT_OPENINGS[name])),
]

/** Prompts of an opening that are used: as many as the smallest choice of words gives. */
export const PROMPTS_OF_AN_OPENING = 2 ** 16

/** Tokens of the vocabulary, which was learnt from stories of this many words of a kind. */
export const STORY_TOKENS = { vocab_size: 1024, words: 32 } as const

/** Every story begins with so many sentences: who it is about, and what. */
export const OPENING_SENTENCES = 2

/** As many sentences as any story tells before it says how it comes out, and more. */
export const MOST_TOLD = 12

/** Tokens of the longest prompt that tells `told` sentences, and of the longest continuation with
 * its end token. Rarer words are cut into more pieces. */
export function lengthsOf(words: number, told: number) {
  const isCommon = words <= STORY_TOKENS.words
  const [opening, all] = isCommon ? [48, 176] : [64, 240]
  const [ending, story] = isCommon ? [80, 176] : [112, 224]
  return {
    prompt: told > OPENING_SENTENCES ? all : opening,
    response: told < MOST_TOLD ? story : ending,
  }
}

/** What is read of a story beside its score. */
export type StoryAspect = 'has_end' | 'happy_end' | 'sad_end' | 'coherence'
