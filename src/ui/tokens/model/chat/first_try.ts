// Says what to try first with a model: what whoever opened it knows, and what is known of a model
// of the lab's own by its name.
import { useStore } from 'zustand'
import type { OpenedModelFacts } from '../../../../host/protocol/opened_model.ts'
import { type FirstTry, openedModelStore } from '../../../../page/opened/opened_model.ts'
import { knownModel } from '../ShippedModels.tsx'

export function useFirstTry({ name }: OpenedModelFacts): FirstTry {
  const own = useStore(openedModelStore, ({ first_try }) => first_try)
  return { ...knownModel(own?.of ?? name), ...own }
}
