// Knows the models that come with the page: what each is for, and what to try first with one, or
// with what was made of it.
import { useStore } from 'zustand'
import { OPENING } from '../../../document/presets/presets.ts'
import type { ShippedName } from '../../../host/content/models/shipped.ts'
import { TOLD } from '../../../host/content/models/told.ts'
import type { OpenedModelFacts } from '../../../host/protocol/opened_model.ts'
import { type FirstTry, openedModelStore } from '../../../page/opened/opened_model.ts'

interface Known extends FirstTry {
  readonly says: string
  readonly text: string
  /** How it continues `text`; only of models whose text a person reads. */
  readonly writes?: string
}

export const KNOWN: Readonly<Record<ShippedName, Known>> = {
  arithmetic: {
    says: 'Reinforce it on sums, divisors or factors: it writes the right form, seldom the right answer; 6 layers',
    text: '12+7=',
    continues: true,
    greedy: true,
    max_tokens: 12,
  },
  small: {
    says: 'Let it teach a smaller model, or train it on: sums, sorting and brackets, half learned; 4 layers',
    text: '312>',
    continues: true,
    greedy: true,
    max_tokens: 7,
  },
  'small-deep': {
    says: 'See at which depth an answer appears: the same problems in 12 layers',
    text: '312>',
    continues: true,
    greedy: true,
    max_tokens: 7,
  },
  sorter: {
    says: 'Train it on, as the first run does: it begins to sort three digits; 3 layers',
    text: '312>',
    continues: true,
    experiment: OPENING.experiment,
  },
  story: {
    says: 'Write the beginning of a short story and let it go on; 4 layers',
    ...TOLD,
    continues: true,
    // Measured layer by layer in docs/stories.md.
    direction: {
      toward: 'They laughed and danced. Anna was happy.',
      away: 'They cried and went home alone. Anna was sad.',
      layer: 4,
    },
  },
}

const BY_NAME: ReadonlyMap<string, Known> = new Map(Object.entries(KNOWN))

/** Suggestions for a model by its name; those that came with it win. */
export function useFirstTry({ name }: OpenedModelFacts): FirstTry {
  const own = useStore(openedModelStore, ({ firstTry }) => firstTry)
  return { ...BY_NAME.get(own?.of ?? name), ...own }
}
