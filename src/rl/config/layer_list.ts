// Reads and writes lists of layers and of numbers that belong to them as text: what a form and a
// document have.
import { text } from '../fields/field.ts'

const LAYERS = /^\s*[1-9]\d{0,2}\s*(,\s*[1-9]\d{0,2}\s*)*$/

/** The layers that a list names, in its order. */
export const layersOf = (list: string | null): number[] => list?.split(',').map(Number) ?? []

/** A list of layers; null = none. */
export const layerList = (said: Pick<Parameters<typeof text>[0], 'label' | 'help' | 'elsewhere'>) =>
  text(
    { ...said, default: null, none: '', max: 60 },
    {
      holds: (list) => LAYERS.test(list),
      expected: 'whole numbers from 1 on, with commas',
    },
  )
