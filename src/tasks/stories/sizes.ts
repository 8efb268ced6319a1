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

/** Tokens of the longest prompt, and of the longest continuation with its end token. Rarer words
 * are cut into more pieces. */
export const lengthsOf = (words: number) =>
  words <= STORY_TOKENS.words ? { prompt: 48, response: 176 } : { prompt: 64, response: 224 }

/** What is read of a story beside its score. */
export type StoryAspect = 'has_end' | 'happy_end' | 'sad_end' | 'coherence'
