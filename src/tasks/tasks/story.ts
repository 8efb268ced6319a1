// Poses the task of short stories: a character, a friend, something that goes wrong and how it
// ends.
import { unknownTokenizer } from '../data/data_tokenizer.ts'
import {
  lengthsOf,
  MOST_TOLD,
  OPENING_SENTENCES,
  openingsOf,
  PROMPTS_OF_AN_OPENING,
  STORY_TOKENS,
  type StoryAspect,
} from '../stories/sizes.ts'
import { MAX_TEST_SIZE } from '../task/problems.ts'
import type { TaskAspect, TaskKind } from '../task/task.ts'

type Problems = typeof import('../stories/problems.ts')
let problems: Problems | undefined

const refuse = (): never => {
  throw new RangeError('task: the words of the stories are not loaded yet; try again in a moment')
}

const told =
  (id: StoryAspect): TaskAspect['of'] =>
  (prompt, response) =>
    (problems ?? refuse()).aspectsOf(prompt + response)[id]

const ASPECTS: readonly TaskAspect[] = [
  {
    id: 'happy_end',
    label: 'Happy end',
    help: 'The story comes to an end, and its hero is happy there.',
    of: told('happy_end'),
  },
  {
    id: 'sad_end',
    label: 'Sad end',
    help: 'The story comes to an end, and its hero is sad there.',
    of: told('sad_end'),
  },
  {
    id: 'has_end',
    label: 'Has an end',
    help: 'The story comes to an end, whatever is wrong with it.',
    of: told('has_end'),
  },
  {
    id: 'coherence',
    label: 'Coherence',
    help: 'The share of the sentences that fit what was said before, with an end or without.',
    isShare: true,
    of: told('coherence'),
  },
]

/** `Once there was a small fox named Pip. He had a red kite.` → how the story continues, to an end.
 * The score is the share of its sentences that fit what was said before; 0 without an end. */
export const story: TaskKind = {
  id: 'story',
  name: 'Stories',
  summary: 'Continue a story of which the first sentences are given, and bring it to an end.',
  params: [
    {
      name: 'plots',
      label: 'Plots',
      help: 'How many kinds of stories there are: a lost, a broken and a stuck thing, a wish, a fear, a lost way, a quarrel, a gift.',
      default: 8,
      min: 1,
      max: 8,
      step: 1,
      unit: 'plots',
    },
    {
      name: 'words',
      label: 'Words of a kind',
      help: 'How many names, animals, things and places stories choose from, the most common first.',
      default: STORY_TOKENS.words,
      min: 8,
      max: 512,
      step: 1,
      unit: 'words',
    },
    {
      name: 'told',
      label: 'Told sentences',
      help: 'How many sentences of a story its prompt tells, at most: never how the story comes out. 12 = all before that.',
      default: OPENING_SENTENCES,
      min: OPENING_SENTENCES,
      max: MOST_TOLD,
      step: 1,
      unit: 'sentences',
    },
  ],
  short_run: { plots: 1, words: 8 },
  needs: {
    isHere: () => problems !== undefined,
    load: async () => {
      const made = await import('../stories/problems.ts')
      await made.loadStoryTokenizer()
      problems = made
    },
  },
  create: ({ plots, words, told }) => ({
    id: 'story',
    tokenizer: problems?.storyTokenizer() ?? unknownTokenizer(STORY_TOKENS.vocab_size, refuse),
    max_prompt_length: lengthsOf(words, told).prompt,
    max_response_length: lengthsOf(words, told).response,
    test_size: MAX_TEST_SIZE,
    train_size: openingsOf(plots).length * PROMPTS_OF_AN_OPENING - MAX_TEST_SIZE,
    exact_match: false,
    partial_score: 'the share of its sentences that fit, in a story that comes to an end',
    aspects: ASPECTS,
    ...(problems?.storyProblems({ plots, words, told }) ?? { sample: refuse, score: refuse }),
  }),
}
